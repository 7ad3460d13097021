import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { History } from "../src/generation/history.js";

const TEXT = "// a door\nstatechart D {\n}\n";
const SECOND_LINE = { line: 1, character: 0 };

describe("a range of an older version", () => {
  it("stays where nothing changed", () => {
    const history = new History(4, TEXT);
    assert.deepEqual(history.now(SECOND_LINE, { line: 2, character: 1 }, 4), { start: 10, end: 26 });
  });

  it("moves with what was typed before it", () => {
    const history = new History(4, TEXT);
    history.record(5, [{ offset: 3, length: 1, text: "the" }]);
    history.record(6, [{ offset: 0, length: 0, text: "\n" }]);
    assert.deepEqual(history.now(SECOND_LINE, SECOND_LINE, 4), { start: 13, end: 13 });
  });

  it("does not move with what was typed behind it", () => {
    const history = new History(4, TEXT);
    history.record(5, [{ offset: 25, length: 2, text: "" }]);
    assert.deepEqual(history.now(SECOND_LINE, SECOND_LINE, 4), { start: 10, end: 10 });
  });

  it("collides with a change inside it", () => {
    const history = new History(4, TEXT);
    history.record(5, [{ offset: 12, length: 1, text: "" }]);
    assert.equal(history.now(SECOND_LINE, { line: 2, character: 1 }, 4), undefined);
  });

  it("is inserted behind what was typed at the same point", () => {
    const history = new History(4, TEXT);
    history.record(5, [{ offset: 10, length: 0, text: "more" }]);
    assert.deepEqual(history.now(SECOND_LINE, SECOND_LINE, 4), { start: 14, end: 14 });
  });

  it("is read in the text of its own version, changes of one event in any order", () => {
    const history = new History(4, TEXT);
    history.record(5, [
      { offset: 0, length: 0, text: "//\n" },
      { offset: 9, length: 0, text: "!" },
    ]);
    history.record(6, [{ offset: 0, length: 3, text: "" }]);
    assert.deepEqual(history.now({ line: 2, character: 0 }, { line: 2, character: 4 }, 5), { start: 11, end: 15 });
  });

  it("is unknown where the version is older than the history", () => {
    assert.equal(new History(4, TEXT).now(SECOND_LINE, SECOND_LINE, 3), undefined);
  });
});

describe("places", () => {
  it("count UTF-16 units, and every kind of line end", () => {
    const history = new History(1, "😀a\r\nb\rc\nd");
    assert.deepEqual(history.now({ line: 0, character: 2 }, { line: 1, character: 1 }), { start: 2, end: 6 });
    assert.deepEqual(history.now({ line: 3, character: 0 }, { line: 3, character: 1 }), { start: 9, end: 10 });
  });

  it("behind the end of a line or of the text are taken as the end", () => {
    const history = new History(1, "ab\ncd");
    assert.deepEqual(history.now({ line: 0, character: 99 }, { line: 9, character: 9 }), { start: 2, end: 5 });
  });
});
