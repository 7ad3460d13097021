// Puts the wheel of the language server into server/, from where the extension installs it for users who have none.
//
//   node scripts/bundle-server.mjs               builds the wheel from the checkout
//   WHEEL=path/to/langwright.whl node scripts/…  takes a wheel that is built already
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";

const extension = path.dirname(import.meta.dirname);
const checkout = path.dirname(extension);
const server = path.join(extension, "server");

rmSync(server, { recursive: true, force: true });
mkdirSync(server);
if (process.env.WHEEL) {
  copyFileSync(process.env.WHEEL, path.join(server, path.basename(process.env.WHEEL)));
} else {
  build();
}
const wheels = readdirSync(server).filter((name) => name.endsWith(".whl"));
if (wheels.length !== 1) {
  fail(`expected one wheel in ${server}, found ${wheels.length}`);
}
copyFileSync(path.join(checkout, "LICENSE"), path.join(extension, "LICENSE"));
console.log(`bundled ${wheels[0]}`);

function build() {
  const own = path.join(checkout, ".venv", process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const python = process.env.PYTHON ?? (existsSync(own) ? own : "python3");
  const pip = ["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", server];
  const { status, error } = spawnSync(python, [...pip, checkout], { stdio: "inherit" });
  if (status !== 0) {
    fail(`${python} could not build the wheel${error ? `: ${error.message}` : ""}; set PYTHON to one that has pip`);
  }
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
