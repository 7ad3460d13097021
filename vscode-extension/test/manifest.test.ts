import assert from "node:assert/strict";
import { test } from "node:test";

import { extensionsIn, globOf } from "../src/languages/manifest.js";

test("the extensions of all languages of a manifest, with a dot, once", () => {
  const manifest = `
[languages.flow]
grammar = "flow.tx"
extensions = [".flow", "fl"]

[[language]]
extensions = [".flow", ".x.y"]
`;
  assert.deepEqual(extensionsIn(manifest), [".flow", ".fl", ".x.y"]);
});

test("a manifest that cannot be read gives none", () => {
  assert.deepEqual(extensionsIn("[languages"), []);
  assert.deepEqual(extensionsIn('extensions = "all"'), []);
});

test("an extension becomes a glob, its characters taken literally", () => {
  assert.equal(globOf(".flow"), "**/*.flow");
  assert.equal(globOf(".f*"), "**/*.f[*]");
});
