/** The last line of a tool's output that says something; pip and venv put their reason there. */
export function lastTelling(output: string): string {
  const lines = output.split("\n").map((line) => line.trim()).filter(Boolean);
  return lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? "";
}

/** What pip is doing, from a line it wrote; undefined for lines that tell a user nothing. */
export function describePip(line: string): string | undefined {
  const [, step, subject] = /^\s*(Collecting|Downloading|Using cached|Building wheel for|Processing|Installing collected packages:)\s+(\S+)/.exec(line) ?? [];
  if (step === undefined || subject === undefined) {
    return undefined;
  }
  if (step.startsWith("Installing")) {
    return "installing packages";
  }
  const name = (subject.split(/[\\/]/).at(-1) ?? subject).replace(/-\d.*$/, "").replace(/[<>=!~;,[(].*$/, "");
  return step.startsWith("Building") ? `building ${name}` : `fetching ${name}`;
}

/** How to get the venv module that Debian and its kin package apart from Python. */
export function venvCure([major, minor]: readonly [number, number, number]): string {
  return (
    `On Debian or Ubuntu install it with "apt install python${major}.${minor}-venv"; elsewhere install a complete ` +
    "Python, or name an interpreter that has Langwright in the setting langwright.pythonPath."
  );
}
