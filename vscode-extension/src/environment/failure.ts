/** A button below a message: what it says and the command it runs. */
export interface Remedy {
  readonly label: string;
  readonly command: string;
  readonly args?: readonly unknown[];
}

/** No Python environment with the language server could be had; says why and what the user can do about it. */
export class EnvironmentFailure extends Error {
  override readonly name = "EnvironmentFailure";

  /**
   * @param reason what went wrong, one sentence
   * @param cure what the user can do, one sentence
   * @param remedies buttons that go with the message
   * @param detail the last line of the tool that failed, shown as it is
   */
  constructor(
    readonly reason: string,
    readonly cure: string,
    readonly remedies: readonly Remedy[] = [],
    readonly detail = "",
  ) {
    super([reason, detail && `(${detail})`, cure].filter(Boolean).join(" "));
  }
}

export const SHOW_OUTPUT: Remedy = { label: "Show output", command: "langwright.showOutput" };

export const CHOOSE_PYTHON: Remedy = {
  label: "Open setting",
  command: "workbench.action.openSettings",
  args: ["langwright.pythonPath"],
};

export const INSTALL_MODEL: Remedy = { label: "Install the language model", command: "langwright.installModel" };
