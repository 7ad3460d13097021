import * as vscode from "vscode";

import type { Remedy } from "./environment/failure.js";

/** Shows an error with a button for each remedy, and carries out the one that is chosen. */
export async function showError(message: string, remedies: readonly Remedy[]): Promise<void> {
  const chosen = await vscode.window.showErrorMessage(message, ...remedies.map(({ label }) => label));
  const remedy = remedies.find(({ label }) => label === chosen);
  if (remedy !== undefined) {
    await vscode.commands.executeCommand(remedy.command, ...(remedy.args ?? []));
  }
}
