"""The VS Code workbench as a person sees and uses it, in a page of a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from playwright.sync_api import Locator, Page, expect

PATIENCE = 60_000
"""Milliseconds that anything may take on a busy machine, generation apart."""

T = TypeVar("T")


@dataclass(frozen=True)
class Box:
    """Where something is on the screen, in pixels."""

    x: float
    y: float
    width: float
    height: float


class Workbench:
    """One page with one folder and one file in its editor."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.file = file
        self.editor = page.locator(".editor-instance .monaco-editor").first

    # -- waiting --------------------------------------------------------------------------------

    def opened(self) -> None:
        """Waits until the file is open."""
        expect(self.editor.locator(".view-lines")).to_be_visible(timeout=PATIENCE)

    def served(self, within: int = PATIENCE) -> None:
        """Waits until the language server runs, or says that it never will."""
        over = re.compile(r"^\s*Langwright(: not running)?\s*$")
        expect(self.status).to_have_text(over, timeout=within)
        assert "not running" not in self.status.inner_text(), self.notifications()

    def settle(self) -> None:
        """Lets what is being drawn come to rest, for a picture."""
        self.page.wait_for_timeout(800)

    def quiet(self) -> None:
        """Waits as long as an analysis takes, before a problem is said to be absent."""
        self.page.wait_for_timeout(3000)

    def eventually(
        self, read: Callable[[], T], holds: Callable[[T], bool], within: int = PATIENCE
    ) -> T:
        """Reads something off the screen until it is as expected.

        Raises:
            AssertionError: it did not become so in time; the message has what was read last.
        """
        for _ in range(max(1, within // 200)):
            value = read()
            if holds(value):
                return value
            self.page.wait_for_timeout(200)
        raise AssertionError(f"still {value!r}\n{self.notifications()}")

    # -- keyboard -------------------------------------------------------------------------------

    def command(self, title: str) -> None:
        """Runs a command by its title in the command palette."""
        self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-widget input.input")
        expect(box).to_be_visible(timeout=PATIENCE)
        box.fill(f">{title}")
        row = self.page.locator(".quick-input-list .monaco-list-row").filter(has_text=title)
        expect(row.first).to_be_visible(timeout=PATIENCE)
        row.first.click()

    def go_to(self, line: int, column: int) -> None:
        """Puts the cursor somewhere; both count from 1."""
        self.page.keyboard.press("Control+1")  # the first group of editors
        self.page.keyboard.press("Control+g")
        box = self.page.locator(".quick-input-widget input.input")
        expect(box).to_be_visible(timeout=PATIENCE)
        box.fill(f":{line}:{column}")
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#status\\.editor\\.selection")).to_contain_text(
            f"Ln {line}, Col {column}", timeout=PATIENCE
        )

    def go_to_end_of(self, line: int) -> None:
        """Puts the cursor behind the last character of a line."""
        self.go_to(line, 1)
        self.page.keyboard.press("End")

    def type(self, text: str) -> None:
        """Types as a person does, a key at a time."""
        self.page.keyboard.type(text, delay=40)

    def press(self, *keys: str) -> None:
        """Presses keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def choose(self, label: str) -> None:
        """Takes an item of the open completion list."""
        items = self.page.locator(".suggest-widget.visible .monaco-list-row")
        items.filter(has_text=re.compile(rf"^\s*{re.escape(label)}")).first.click()

    def answer(self, text: str) -> None:
        """Fills in the input box that is shown, and confirms it."""
        box = self.page.locator(".quick-input-widget input.input")
        expect(box).to_be_visible(timeout=PATIENCE)
        expect(box).not_to_have_value(re.compile("^>"), timeout=PATIENCE)
        box.fill(text)
        self.page.keyboard.press("Enter")

    # -- what is on the screen ------------------------------------------------------------------

    @property
    def status(self) -> Locator:
        """The extension's item in the status bar."""
        return self.page.locator("[id='langwright.langwright.langwright.status']")

    @property
    def squiggles(self) -> Locator:
        """The red squiggles in the editor."""
        return self.editor.locator(".squiggly-error")

    @property
    def ghost(self) -> Locator:
        """The pieces of ghost text in the editor."""
        return self.editor.locator(".ghost-text-decoration, .ghost-text")

    @property
    def toasts(self) -> Locator:
        """The notifications that are shown."""
        return self.page.locator(".notification-toast")

    def notifications(self) -> list[str]:
        """What the notifications say."""
        return self.toasts.all_inner_texts()

    def problems(self) -> list[str]:
        """The rows of the Problems panel that stand for a problem, not for a file."""
        rows = self.page.locator(".markers-panel .monaco-list-row").all_inner_texts()
        flat = [" ".join(row.split()) for row in rows]
        return [row for row in flat if "[Ln" in row]

    def open_problems(self) -> None:
        """Shows the Problems panel; the cursor goes back to the editor."""
        self.command("Problems: Focus on Problems View")
        expect(self.page.locator(".markers-panel")).to_be_visible(timeout=PATIENCE)
        self.command("View: Focus Active Editor Group")

    def suggestions(self) -> list[str]:
        """The labels of the completion list, '' for a list that is not open."""
        rows = self.page.locator(".suggest-widget.visible .monaco-list-row")
        return [row.get_attribute("aria-label") or "" for row in rows.all()]

    def lines(self) -> list[str]:
        """The visible lines of the document in the editor, without ghost text."""
        lines: list[str] = self.editor.evaluate(
            """editor => [...editor.querySelectorAll('.view-line')]
                .map(line => [parseInt(line.style.top), [...line.querySelectorAll('span > span')]
                    .filter(span => !/ghost-text/.test(span.className))
                    .map(span => span.textContent).join('')])
                .sort((one, other) => one[0] - other[0])
                .map(([, text]) => text.replaceAll('\\u00a0', ' '))"""
        )
        return lines

    def tabs_of(self, name: str) -> list[str]:
        """The titles of the open editors whose title contains a name."""
        titles: list[str] = self.page.locator(".tab").all_inner_texts()
        return [title for title in titles if name in title]

    def preview_text(self) -> str:
        """What the preview of a growing model shows, '' while there is none."""
        lines = self.page.locator(".editor-instance .monaco-editor .view-lines")
        if not self.tabs_of("Growing") or lines.count() < 2:
            return ""
        return lines.last.inner_text().replace("\u00a0", " ")

    def saved_text(self) -> str:
        """Saves the file and reads it from the disk."""
        self.command("File: Save")
        dirty = self.page.locator(".tab.active.dirty")
        expect(dirty).to_have_count(0, timeout=PATIENCE)
        return self.file.read_text(encoding="utf-8")

    def box_of(self, line: int, word: str) -> Box:
        """Where a word of a line (from 1, of those visible) stands on the screen."""
        box: dict[str, Any] = self.editor.evaluate(
            """(editor, [number, word]) => {
                const line = [...editor.querySelectorAll('.view-line')]
                    .sort((one, other) => parseInt(one.style.top) - parseInt(other.style.top))
                    [number - 1];
                const at = line.textContent.replaceAll('\\u00a0', ' ').indexOf(word);
                const range = document.createRange();
                const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
                let seen = 0;
                for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                    const length = node.textContent.length;
                    if (at >= seen && at < seen + length) range.setStart(node, at - seen);
                    const end = at + word.length;
                    if (end > seen && end <= seen + length) range.setEnd(node, end - seen);
                    seen += length;
                }
                const { x, y, width, height } = range.getBoundingClientRect();
                return { x, y, width, height };
            }""",
            [line, word],
        )
        return Box(**box)
