import { candidates, expandPath } from "./candidates.js";
import type { Surroundings } from "./candidates.js";
import { CHOOSE_PYTHON, EnvironmentFailure, SHOW_OUTPUT } from "./failure.js";
import { MINIMUM_PYTHON, isRecent, probe } from "./probe.js";

/** An interpreter that has the language server. */
export interface Environment {
  readonly python: string;
  /** Where it was found, for the status bar and the log. */
  readonly origin: string;
  readonly serverVersion: string;
  readonly hasModelPackages: boolean;
}

/**
 * Looks for an interpreter that has the language server.
 *
 * The one the user configured is taken or refused: falling back to another would hide the mistake. Without it, the
 * ones that the window suggests are asked in order.
 *
 * @returns undefined if nothing is configured and none of the suggested ones has the language server
 * @throws EnvironmentFailure if the configured one cannot be used
 */
export async function findEnvironment(
  surroundings: Surroundings,
  log: (line: string) => void,
): Promise<Environment | undefined> {
  if (surroundings.configured.trim() !== "") {
    return configuredEnvironment(expandPath(surroundings.configured, surroundings));
  }
  for (const { python, origin } of candidates(surroundings)) {
    const facts = await probe([python]);
    if (facts?.server !== undefined && isRecent(facts)) {
      return { python, origin, serverVersion: facts.server, hasModelPackages: facts.hasModelPackages };
    }
    log(`${python} (${origin}): ${facts === undefined ? "not there" : "has no language server"}`);
  }
  return undefined;
}

async function configuredEnvironment(python: string): Promise<Environment> {
  const facts = await probe([python]);
  if (facts === undefined) {
    throw new EnvironmentFailure(
      `The setting langwright.pythonPath names ${python}, which does not run as a Python interpreter.`,
      "Correct the setting, or empty it to let the extension find one.",
      [CHOOSE_PYTHON, SHOW_OUTPUT],
    );
  }
  if (!isRecent(facts)) {
    throw new EnvironmentFailure(
      `The setting langwright.pythonPath names Python ${facts.version.join(".")}.`,
      `Langwright needs ${MINIMUM_PYTHON.join(".")} or newer.`,
      [CHOOSE_PYTHON],
    );
  }
  if (facts.server === undefined) {
    throw new EnvironmentFailure(
      `The setting langwright.pythonPath names ${python}, which does not have Langwright.`,
      `Install it there with "${python} -m pip install langwright", or empty the setting.`,
      [CHOOSE_PYTHON],
    );
  }
  return {
    python,
    origin: "setting langwright.pythonPath",
    serverVersion: facts.server,
    hasModelPackages: facts.hasModelPackages,
  };
}
