import assert from "node:assert/strict";
import { test } from "node:test";

import { globsIn } from "../src/languages/manifest.js";

test("the files of all languages, by extensions, patterns and the files section", () => {
  const manifest = `
[[language]]
name = "flow"
grammar = "flow.tx"
extensions = [".flow", "fl"]

[[language]]
grammar = "grammars/door.tx"
patterns = ["doors/*.txt"]

[[language]]
name = "plan"
grammar = "p.tx"

[files]
"*.dsl" = "door"
`;
  assert.deepEqual(globsIn(manifest), [
    "**/*.flow",
    "**/*.fl",
    "**/*.door",
    "**/doors/*.txt",
    "**/*.plan",
    "**/*.dsl",
  ]);
});

test("a manifest that cannot be read, or means something else, gives none", () => {
  assert.deepEqual(globsIn("[[language"), []);
  assert.deepEqual(globsIn("language = 3\nfiles = 4"), []);
  assert.deepEqual(globsIn("[[language]]\nextensions = 'all'\npatterns = [1]"), []);
});

test("the characters of an extension are taken literally", () => {
  assert.deepEqual(globsIn("[[language]]\nextensions = ['.f*']"), ["**/*.f[*]"]);
});
