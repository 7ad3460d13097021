import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** How a finished process ended. */
export interface Outcome {
  /** The exit code; undefined if the program could not be started or was stopped. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** What bounds and watches a running process. */
export interface Watch {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

/** Runs a program to its end; never throws: a program that is missing is an outcome without a code. */
export function run(command: readonly [string, ...string[]], watch: Watch = {}): Promise<Outcome> {
  const [program, ...args] = command;
  // Not spawn's own time limit: it goes on ticking for a program that could not be started.
  const limits = [watch.signal, watch.timeoutMs === undefined ? undefined : AbortSignal.timeout(watch.timeoutMs)];
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      signal: AbortSignal.any(limits.filter((signal) => signal !== undefined)),
      // An environment variable of the user must not lead a foreign interpreter to its modules.
      env: { ...process.env, PYTHONPATH: undefined, PYTHONHOME: undefined, PYTHONUNBUFFERED: "1" },
    });
    const lines = { stdout: [] as string[], stderr: [] as string[] };
    for (const name of ["stdout", "stderr"] as const) {
      createInterface({ input: child[name] }).on("line", (line) => {
        lines[name].push(line);
        watch.onLine?.(line);
      });
    }
    const finish = (code: number | undefined, trouble = ""): void => {
      resolve({ code, stdout: lines.stdout.join("\n"), stderr: [...lines.stderr, trouble].join("\n").trim() });
    };
    child.on("error", (error) => { finish(undefined, error.message); });
    child.on("close", (code) => { finish(code ?? undefined); });
  });
}
