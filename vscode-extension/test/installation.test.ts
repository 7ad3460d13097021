import assert from "node:assert/strict";
import { test } from "node:test";

import { describePip, lastTelling, venvCure } from "../src/environment/installation.js";

test("of pip's output the user reads the packages", () => {
  assert.equal(describePip("Collecting textx<4.5,>=4.4 (from langwright==0.1.0)"), "fetching textx");
  assert.equal(describePip("  Downloading pygls-2.1.1-py3-none-any.whl (68 kB)"), "fetching pygls");
  assert.equal(describePip("Processing /home/ada/server/langwright-0.1.0-py3-none-any.whl"), "fetching langwright");
  assert.equal(describePip("Collecting typer[all]"), "fetching typer");
  assert.equal(describePip("  Building wheel for arpeggio (pyproject.toml): started"), "building arpeggio");
  assert.equal(describePip("Installing collected packages: regex, textx"), "installing packages");
  assert.equal(describePip("Requirement already satisfied: pip"), undefined);
});

test("the reason of a failure is the last line with an error", () => {
  const pip = [
    "WARNING: Retrying after connection broken",
    "ERROR: Could not find a version that satisfies the requirement pygls",
    "ERROR: No matching distribution found for pygls",
    "[notice] A new release of pip is available",
  ];
  assert.equal(lastTelling(pip.join("\n")), "ERROR: No matching distribution found for pygls");
  assert.equal(lastTelling("one\n two \n\n"), "two");
  assert.equal(lastTelling(""), "");
});

test("the cure for a missing venv module names the package of that Python", () => {
  assert.match(venvCure([3, 12, 1]), /apt install python3\.12-venv/);
});
