import * as vscode from "vscode";

import { SHOW_OUTPUT } from "./environment/failure.js";
import { Generator } from "./generation/generate.js";
import { Preview } from "./generation/preview.js";
import { ServedDocuments } from "./languages/served.js";
import { showError } from "./remedies.js";
import { Server } from "./server.js";
import { Status } from "./status.js";

const RESTART = { label: "Restart server", command: "langwright.restartServer" };

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Langwright", { log: true });
  const status = new Status();
  const served = await ServedDocuments.open();
  const running = new Server(context, served, status, log);
  const preview = new Preview();
  const generator = new Generator(preview, log, () => running.remedies);
  server = running;

  const { registerCommand } = vscode.commands;
  context.subscriptions.push(
    log,
    status,
    served,
    preview,
    generator,
    registerCommand("langwright.generate", () => generate(running, served, generator)),
    registerCommand("langwright.stopGeneration", () => { generator.stop(); }),
    registerCommand("langwright.restartServer", () => running.restart()),
    registerCommand("langwright.rebuildEnvironment", () => running.rebuild()),
    registerCommand("langwright.installModel", () => running.installModel()),
    registerCommand("langwright.showOutput", () => { log.show(); }),
    served.onDidChange(() => void running.restart()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void running.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("langwright.pythonPath") || event.affectsConfiguration("langwright.model")) {
        void running.restart();
      }
    }),
  );
  // Not awaited: making a Python environment may take a minute, the commands are there at once.
  void running.restart();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

async function generate(running: Server, served: ServedDocuments, generator: Generator): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !served.includes(editor.document)) {
    void vscode.window.showWarningMessage(
      "Open a file of one of Langwright's languages first: a shipped one, or one that langwright.toml names.",
    );
    return;
  }
  const { client } = running;
  if (client === undefined) {
    void showError("The language server is not running.", [RESTART, SHOW_OUTPUT]);
    return;
  }
  await generator.generate(client, editor);
}
