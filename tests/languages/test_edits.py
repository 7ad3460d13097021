"""An edited text is analysed by what the edit changes, and as if it were read anew."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language_server.languages import Analysis, Language, load_language
from language_server.partial_model import Reading
from language_server.syntax import document
from tests.languages.edits import edited, edited_language, said
from tests.partial_model.test_linking import LANGUAGES, classes, language, nest
from tests.syntax.corpus import CORPUS

SHIPPED = ("family", "statechart", "flowchart", "clevr", "problem", "textx")
PUBLIC = (
    "textx-json",
    "textx-components-rrel",
    "textx-statemachine",
    "textx-workflow",
    "textx-expression",
    "textx-drawing",
    "bwyd",
    "dflow",
    "quant-scraper",
    "demol-component",
)
#: Texts of these are read anew, see `changeable`: mentions with keys make one object of several,
#: or other files are around the text.
ANEW = ("clevr", "flowchart")


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "STRIDE", 20)


def follow(of: Language, text: str, edits: int, random: Random) -> list[Analysis]:
    """Analyse a chain of edits, each from the version before, and compare with the text anew."""
    chain = [of.analyse(text)]
    for _ in range(edits):
        text = edited(text, random)
        chain.append(of.analyse(text, known=chain[-1]))
        assert not any(found.code == "internal" for found in chain[-1].diagnostics), text
        assert said(chain[-1]) == said(of.analyse(text)), (chain[-2].parse.text, text)
    return chain


def of_name(name: str) -> tuple[Language, tuple[str, ...]]:
    if name in PUBLIC and not CORPUS.is_dir():
        pytest.skip("the corpus is not beside the project")
    return edited_language(name)


@pytest.mark.parametrize("name", (*SHIPPED, *PUBLIC))
@settings(max_examples=3, deadline=None)
@given(st.randoms(use_true_random=False))
def test_an_edited_text_is_analysed_as_anew(name: str, random: Random) -> None:
    of, texts = of_name(name)
    follow(of, random.choice(texts)[:600], 4, random)


@pytest.mark.long
@pytest.mark.parametrize("name", (*SHIPPED, *PUBLIC))
@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from((1, 20, 60, 512)))
def test_many_edited_texts_are_analysed_as_anew(name: str, random: Random, stride: int) -> None:
    of, texts = of_name(name)
    document.STRIDE = stride
    follow(of, random.choice(texts)[:3000], 12, random)


@pytest.mark.parametrize(
    "name", [name for name in LANGUAGES if name not in ("builtins", "slashes")]
)
@settings(max_examples=6, deadline=None)
@given(st.randoms(use_true_random=False))
def test_edited_references_with_scope_rules_mean_the_same_as_anew(
    name: str, random: Random
) -> None:
    make = classes if name in ("relative", "extended") else nest
    follow(language(name), make(random), 4, random)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [name for name in LANGUAGES if name not in ("builtins", "slashes")]
)
@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_many_edited_references_with_scope_rules_mean_the_same(name: str, random: Random) -> None:
    make = classes if name in ("relative", "extended") else nest
    follow(language(name), " ".join(make(random) for _ in range(3)), 12, random)


@pytest.mark.parametrize("name", (*SHIPPED, *PUBLIC))
def test_most_edits_change_the_model_that_is_there(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is made anew only where a language or the text leaves no other way."""
    of, texts = of_name(name)
    outcomes: list[bool] = []
    edit = Reading.edited

    def counted(self: Reading, *args: object) -> Reading | None:
        result = edit(self, *args)  # type: ignore[arg-type]
        outcomes.append(result is not None)
        return result

    monkeypatch.setattr(Reading, "edited", counted)
    random = Random(name)
    for text in texts[:3]:
        text = text[:600]
        known = of.analyse(text)
        for _ in range(10):
            known = of.analyse(edited(text, random), known=known)
    assert sum(outcomes) == 0 if name in ANEW else sum(outcomes) > 0.7 * len(outcomes)


@pytest.mark.parametrize(
    ("before", "after"),
    (
        ("person d f", "likes chess, chess\n person d f"),
        # a value that is a literal stands behind, or in front, and moves as well
        ("n likes a, chess", "sn likes a, chess"),
        ("n likes chess, a, golf", "sn likes chess, a, golf"),
        ("n plays a plays chess", "sn plays a plays chess"),
        ("n plays chess plays a", "sn plays chess plays a"),
        ("s likes a, golf friends b", "s likes a, golf friends b "),
        # one of them comes or goes
        ("n likes a, chess", "n likes a, ball, chess"),
        ("n likes a, ball, chess", "n likes a, chess"),
        ("n likes a, chess", "n likes ball, a, chess"),
        ("n likes a, chess", "n likes chess"),
        ("n likes a, chess", "n likes a"),
        ("n plays chess", "n plays a plays chess"),
        ("n plays a plays chess", "n plays chess"),
    ),
)
@pytest.mark.parametrize("stride", (1, 20))
def test_a_value_that_is_no_literal_is_told_where_it_stands_now(
    before: str, after: str, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "STRIDE", stride)
    of, _ = of_name("family")
    assert said(of.analyse(after, known=of.analyse(before))) == said(of.analyse(after))


@pytest.mark.parametrize(
    "chain",
    (
        # a reference in front makes ``eve`` a later object than the one that repeats it
        ("n n friendseve,eve", "n besteve n friendseve,eve", "n besteve n friendseve", "n n"),
        ("n n friends e,e,e", "n friends e n friends e,e,e", "n friends e n friends e,e", "n n"),
        # the other end says it as well, and is declared later, earlier, or not any more
        ("n a friends b", "n a friends b n b friends a", "n a friends b n b", "n a n b"),
        ("n b friends a", "n a friends b n b friends a", "n a n b friends a", "n b friends a"),
        ("n a friends a,a", "n b friends a n a friends a,a", "n b friends a n a friends a", "n a"),
        ("n a best b friends b", "n b best a n a best b friends b", "n b best a n a friends b"),
        # two features say it of each other
        ("n a clubs c,c", "club c members a n a clubs c,c", "club c members a n a", "n a clubs c"),
        ("club c chair a members a", "n a clubs c club c chair a members a", "n a club c chair a"),
    ),
)
def test_what_is_stated_several_times_is_counted_from_either_end(
    chain: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "STRIDE", 1)
    of, _ = of_name("family")
    known = of.analyse(chain[0])
    for text in chain[1:]:
        known = of.analyse(text, known=known)
        assert said(known) == said(of.analyse(text)), text


def test_of_two_ways_to_explain_a_violation_the_same_is_told_as_anew() -> None:
    """Objects that an edit brings in have higher numbers than those behind them."""
    of, _ = of_name("family")
    before = "person a {\n person c best a }\nperson b best a\nperson d"
    after = before.replace("a {", "a best b {")
    known, anew = of.analyse(after, known=of.analyse(before)), of.analyse(after)
    explained = [
        {violation.element_names: violation.facts for violation in each.evaluation.obligations}
        for each in (known, anew)
    ]
    assert explained[0] == explained[1]
    assert explained[0]["a",] == ("children(a, c)", "best(c, a)")  # ``c`` stands in front of ``b``


def test_an_earlier_analysis_serves_several_edits() -> None:
    """Analyses are values: one that was changed is still what it was."""
    of = load_language("statechart")
    text = (
        "statechart S\nevent e\ninitial state a {\n    on e -> b\n}\nstate b {}\n" + "// x\n" * 40
    )
    known = of.analyse(text)
    before = said(known)
    for changed in (text.replace("state b", "state c"), text.replace("on e", "on f"), text[:-90]):
        assert said(of.analyse(changed, known=known)) == said(of.analyse(changed))
    assert said(known) == before


@pytest.mark.parametrize("after", ("s70", "s7 0", "s7 } ", "s7 {"))
def test_an_edit_in_the_middle_costs_by_what_it_changes(
    after: str,
    count_calls: Callable[[Callable[[], object]], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where it breaks the syntax, or takes a name that others refer to.

    What could still lead to a state is looked for in the whole model, though.
    """
    monkeypatch.setattr(document, "STRIDE", 100)
    of = load_language("statechart")
    text = "statechart S\nevent e\nevent f\ninitial "
    for state in range(400):  # a binary tree
        further = (f"on {event} -> s{2 * state + child}" for child, event in ((1, "e"), (2, "f")))
        text += f"state s{state} {{ {' '.join(further) if state < 199 else ''} }}\n"
    changed = text.replace("state s250 ", f"state {after} ")
    known = of.analyse(text)
    of.analyse(changed, known=known)  # what is asked of a text only once
    whole = count_calls(lambda: of.analyse(changed))
    assert count_calls(lambda: of.analyse(changed, known=known)) < whole / 5
    broken = of.analyse(changed, known=known)
    assert count_calls(lambda: of.analyse(text, known=broken)) < whole / 5
