import * as vscode from "vscode";

/** What the status bar tells about the language server and its model. */
export type ServerState =
  | { readonly kind: "starting"; readonly message: string }
  | { readonly kind: "running"; readonly origin: string; readonly version: string; readonly model: string }
  | { readonly kind: "busy"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

/** The item in the status bar. */
export class Status implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;

  constructor() {
    this.#item = vscode.window.createStatusBarItem("langwright.status", vscode.StatusBarAlignment.Right, 90);
    this.#item.name = "Langwright";
    this.#item.command = "langwright.showOutput";
    this.#item.show();
  }

  show(state: ServerState): void {
    this.#item.backgroundColor =
      state.kind === "failed" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    switch (state.kind) {
      case "starting":
      case "busy":
        this.#item.text = `$(sync~spin) Langwright: ${state.message}`;
        this.#item.tooltip = tooltip(`Langwright: ${state.message}`);
        break;
      case "running":
        this.#item.text = "$(check) Langwright";
        this.#item.tooltip = tooltip(
          `Language server ${state.version}\n\nPython: ${state.origin}\n\nModel: ${state.model}`,
        );
        break;
      case "failed":
        this.#item.text = "$(error) Langwright: not running";
        this.#item.tooltip = tooltip(state.message);
    }
  }

  dispose(): void {
    this.#item.dispose();
  }
}

function tooltip(facts: string): vscode.MarkdownString {
  const links = [
    "[Restart server](command:langwright.restartServer)",
    "[Show output](command:langwright.showOutput)",
    "[Settings](command:workbench.action.openSettings?%22langwright%22)",
  ];
  const text = new vscode.MarkdownString(`${facts}\n\n${links.join(" · ")}`);
  text.isTrusted = {
    enabledCommands: ["langwright.restartServer", "langwright.showOutput", "workbench.action.openSettings"],
  };
  return text;
}
