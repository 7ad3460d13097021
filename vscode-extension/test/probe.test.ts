import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";

import { EnvironmentFailure } from "../src/environment/failure.js";
import { findEnvironment } from "../src/environment/find.js";
import { isRecent, parseFacts, probe } from "../src/environment/probe.js";

test("the facts are the last line an interpreter writes", () => {
  const answer = {
    executable: "/usr/bin/python3",
    version: [3, 11, 2],
    server: null,
    hasModelPackages: false,
    canMakeEnvironments: true,
  };
  const facts = parseFacts(`a site hook says hello\n${JSON.stringify(answer)}\n`);
  assert.deepEqual(facts, { ...answer, server: undefined });
  assert.equal(parseFacts("Segmentation fault"), undefined);
  assert.equal(parseFacts(""), undefined);
});

test("3.11 is the oldest version taken", () => {
  const facts = { executable: "python", server: undefined, hasModelPackages: false, canMakeEnvironments: true };
  assert.equal(isRecent({ ...facts, version: [3, 10, 9] }), false);
  assert.equal(isRecent({ ...facts, version: [3, 11, 0] }), true);
  assert.equal(isRecent({ ...facts, version: [4, 0, 0] }), true);
});

test("a real interpreter answers, a missing one does not", async () => {
  const facts = await probe(["python3"]);
  assert.equal(facts?.version[0], 3);
  assert.equal(await probe(["/nowhere/python"]), undefined);
});

const SURROUNDINGS = {
  platform: process.platform,
  home: os.homedir(),
  workspaceFolders: [],
  trusted: true,
  selected: undefined,
};

test("a configured interpreter that does not run is refused with the cure, not passed over", async () => {
  const looking = findEnvironment({ ...SURROUNDINGS, configured: "/nowhere/python" }, () => undefined);
  await assert.rejects(looking, (failure) => {
    assert.ok(failure instanceof EnvironmentFailure);
    assert.match(failure.message, /\/nowhere\/python/);
    assert.equal(failure.remedies[0]?.args?.[0], "langwright.pythonPath");
    return true;
  });
});

test("a folder of the workspace that is named like the server is not taken for it", async () => {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), "langwright-probe-"));
  const before = process.cwd();
  try {
    for (const name of ["language_server", "pygls"]) {
      await fs.mkdir(path.join(folder, name));
      await fs.writeFile(path.join(folder, name, "__init__.py"), "");
    }
    process.chdir(folder);
    // The system's interpreter in isolated mode tells what is really installed.
    const facts = await probe(["python3", "-I"]);
    const inFolder = await probe(["python3"]);
    assert.equal(inFolder?.server, facts?.server);
  } finally {
    process.chdir(before);
    await fs.rm(folder, { recursive: true });
  }
});
