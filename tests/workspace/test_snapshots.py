from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from language_server.projection import Prefix
from language_server.workspace.snapshots import Snapshots

TEXTS = st.lists(st.sampled_from(["a\n", "bb\n", "c", "\n", "dd\r\n", "e"]), max_size=8).map(
    "".join
)


@dataclass(frozen=True)
class CountingPrefix:
    """Stands in for a prefix: it knows its text and what it took to get there."""

    text: str
    spent: list[int]

    def advance(self, text: str) -> CountingPrefix:
        self.spent.append(len(text))
        return CountingPrefix(self.text + text, self.spent)


@given(st.lists(TEXTS, max_size=6))
def test_the_prefix_is_that_of_the_text(texts: list[str]) -> None:
    snapshots = Snapshots(cast(Prefix, CountingPrefix("", [])))
    for text in texts:
        assert snapshots.at(text).text == text


def test_a_keystroke_costs_its_line() -> None:
    start = CountingPrefix("", [])
    snapshots = Snapshots(cast(Prefix, start))
    text = "state A\n" * 1000
    snapshots.at(text)
    start.spent.clear()
    snapshots.at(text + "st")
    snapshots.at(text + "sta")
    assert sum(start.spent) <= 2 * len("state A\n") + len("st") + len("sta")
    start.spent.clear()
    snapshots.at(text[: len(text) // 2] + "x")
    assert sum(start.spent) <= len("state A\nx")
