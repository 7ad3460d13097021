import { run } from "./run.js";

/** The oldest Python the language server runs on. */
export const MINIMUM_PYTHON: readonly [number, number] = [3, 11];

/** What an interpreter told about itself. */
export interface PythonFacts {
  readonly executable: string;
  readonly version: readonly [number, number, number];
  /** The version of the installed language server; undefined if there is none. */
  readonly server: string | undefined;
  /** Whether the packages that a language model needs are there. */
  readonly hasModelPackages: boolean;
  /** Whether `python -m venv` can make an environment with pip in it. */
  readonly canMakeEnvironments: boolean;
}

// Must run on any Python 3, to tell an old one from none. The first entry of the path is the current folder, where
// something may be named like our package.
const QUESTION = `
import importlib.util as u, json, sys
del sys.path[0]
server = None
if u.find_spec("language_server") and u.find_spec("pygls"):
    from importlib.metadata import PackageNotFoundError, version
    try:
        server = version("langwright")
    except PackageNotFoundError:
        server = "of unknown version"
print(json.dumps({
    "executable": sys.executable,
    "version": list(sys.version_info[:3]),
    "server": server,
    "hasModelPackages": all(map(u.find_spec, ("torch", "transformers", "tokenizers", "safetensors"))),
    "canMakeEnvironments": bool(u.find_spec("venv") and u.find_spec("ensurepip")),
}))
`;

/** Asks an interpreter what it is; undefined if it does not answer within 20 s. */
export async function probe(python: readonly [string, ...string[]]): Promise<PythonFacts | undefined> {
  const outcome = await run([...python, "-c", QUESTION], { timeoutMs: 20_000 });
  return outcome.code === 0 ? parseFacts(outcome.stdout) : undefined;
}

/** Reads the answer of an interpreter, the last line it wrote (a site hook may write before it). */
export function parseFacts(stdout: string): PythonFacts | undefined {
  const last = stdout.trimEnd().split("\n").at(-1) ?? "";
  try {
    const answer = JSON.parse(last) as {
      executable: string;
      version: [number, number, number];
      server: string | null;
      hasModelPackages: boolean;
      canMakeEnvironments: boolean;
    };
    return { ...answer, server: answer.server ?? undefined };
  } catch {
    return undefined;
  }
}

export function isRecent(facts: PythonFacts): boolean {
  const [major, minor] = facts.version;
  return major > MINIMUM_PYTHON[0] || (major === MINIMUM_PYTHON[0] && minor >= MINIMUM_PYTHON[1]);
}
