import * as path from "node:path";

/** What is known about the window before any interpreter has been asked. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly workspaceFolders: readonly string[];
  /** Interpreters inside an untrusted workspace are not run. */
  readonly trusted: boolean;
  /** The setting `langwright.pythonPath` as written. */
  readonly configured: string;
  /** The interpreter chosen in the Python extension, if that is there. */
  readonly selected: string | undefined;
}

/** An interpreter that may have the language server, and where we know it from. */
export interface Candidate {
  readonly python: string;
  readonly origin: string;
}

/** Replaces `~` and `${workspaceFolder}`, and takes a relative path from the first workspace folder. */
export function expandPath(written: string, surroundings: Surroundings): string {
  const folder = surroundings.workspaceFolders[0] ?? surroundings.home;
  const expanded = written.trim().replace(/^~(?=$|[\\/])/, surroundings.home).replaceAll("${workspaceFolder}", folder);
  // A bare name such as `python3.12` is looked up on the PATH by the system.
  return /[\\/]/.test(expanded) ? path.resolve(folder, expanded) : expanded;
}

/** The interpreters to ask for the language server, in order; without the one the user configured. */
export function candidates(surroundings: Surroundings): Candidate[] {
  const found: Candidate[] = [];
  if (surroundings.selected !== undefined) {
    found.push({ python: surroundings.selected, origin: "chosen in the Python extension" });
  }
  for (const folder of surroundings.workspaceFolders) {
    for (const name of [".venv", "venv"]) {
      const python = interpreterOf(path.join(folder, name), surroundings.platform);
      found.push({ python, origin: `${name} of the workspace` });
    }
  }
  const unique = found.filter((one, index) => found.findIndex((other) => other.python === one.python) === index);
  return surroundings.trusted ? unique : unique.filter(({ python }) => !isInside(python, surroundings.workspaceFolders));
}

/** Where a virtual environment keeps its interpreter. */
export function interpreterOf(environment: string, platform: NodeJS.Platform): string {
  return platform === "win32"
    ? path.join(environment, "Scripts", "python.exe")
    : path.join(environment, "bin", "python");
}

/** Commands that may start a Python from which an environment can be made, best first. */
export function basePythons(platform: NodeJS.Platform): (readonly [string, ...string[]])[] {
  const versioned = ["python3.13", "python3.12", "python3.11"].map((name) => [name] as const);
  return platform === "win32" ? [["py", "-3"], ["python"]] : [["python3"], ...versioned, ["python"]];
}

function isInside(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => {
    const relative = path.relative(folder, file);
    return !relative.startsWith("..") && !path.isAbsolute(relative);
  });
}
