import assert from "node:assert/strict";
import { test } from "node:test";

import { BEGINNING, heard, told } from "../src/generation/story.js";
import type { GenerateProgress } from "../src/generation/protocol.js";

function after(...progress: Omit<GenerateProgress, "token">[]): string {
  return told(progress.reduce((story, one) => heard(story, { ...one, token: "t" }), BEGINNING));
}

test("before anything was heard", () => {
  assert.equal(after(), "asking the language server");
});

test("the server's own words are preferred while it loads and reads", () => {
  assert.equal(after({ kind: "loading" }), "loading the language model");
  assert.equal(after({ kind: "loading", message: "loading SmolLM2" }), "loading SmolLM2");
  assert.equal(after({ kind: "prefill" }), "reading the description");
});

test("while text grows: how many lines, and the newest one", () => {
  assert.equal(after({ kind: "text", text: "statechart" }, { kind: "text", text: "statechart Door\n" }), "1 line: statechart Door");
  assert.equal(after({ kind: "text", text: "a\n\n  b" }, { kind: "done" }), "2 lines: b");
  assert.equal(after({ kind: "text", text: "\n" }), "writing");
});

test("text that the generator takes back is gone", () => {
  assert.equal(after({ kind: "text", text: "a\nbad" }, { kind: "text", text: "a\n" }), "1 line: a");
});

test("a long line is cut", () => {
  const message = after({ kind: "text", text: "x".repeat(200) });
  assert.ok(message.length < 64);
  assert.ok(message.endsWith("…"));
});
