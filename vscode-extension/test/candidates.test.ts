import assert from "node:assert/strict";
import { test } from "node:test";

import { basePythons, candidates, expandPath } from "../src/environment/candidates.js";
import type { Surroundings } from "../src/environment/candidates.js";

const LINUX: Surroundings = {
  platform: "linux",
  home: "/home/ada",
  workspaceFolders: ["/home/me/shop", "/home/me/lib"],
  trusted: true,
  configured: "",
  selected: undefined,
};

test("the chosen interpreter comes before the environments of the workspace folders", () => {
  const found = candidates({ ...LINUX, selected: "/opt/py/bin/python" });
  assert.deepEqual(
    found.map(({ python }) => python),
    [
      "/opt/py/bin/python",
      "/home/me/shop/.venv/bin/python",
      "/home/me/shop/venv/bin/python",
      "/home/me/lib/.venv/bin/python",
      "/home/me/lib/venv/bin/python",
    ],
  );
});

test("an interpreter known from two places is asked once", () => {
  const found = candidates({ ...LINUX, selected: "/home/me/shop/.venv/bin/python" });
  assert.equal(found.filter(({ python }) => python === "/home/me/shop/.venv/bin/python").length, 1);
  assert.match(found[0]?.origin ?? "", /Python extension/);
});

test("nothing inside an untrusted workspace is run", () => {
  const found = candidates({ ...LINUX, trusted: false, selected: "/home/me/shop/.venv/bin/python" });
  assert.deepEqual(found, []);
  const outside = candidates({ ...LINUX, trusted: false, selected: "/home/me/shop-tools/bin/python" });
  assert.deepEqual(outside.map(({ python }) => python), ["/home/me/shop-tools/bin/python"]);
});

test("a configured path may use the home folder, the workspace folder and the PATH", () => {
  assert.equal(expandPath("~/envs/dsl/bin/python", LINUX), "/home/ada/envs/dsl/bin/python");
  assert.equal(expandPath(" ${workspaceFolder}/env/bin/python ", LINUX), "/home/me/shop/env/bin/python");
  assert.equal(expandPath("env/bin/python", LINUX), "/home/me/shop/env/bin/python");
  assert.equal(expandPath("python3.12", LINUX), "python3.12");
  assert.equal(expandPath("env/bin/python", { ...LINUX, workspaceFolders: [] }), "/home/ada/env/bin/python");
});

test("on Windows the launcher is asked first", () => {
  assert.deepEqual(basePythons("win32")[0], ["py", "-3"]);
  assert.deepEqual(basePythons("linux")[0], ["python3"]);
});
