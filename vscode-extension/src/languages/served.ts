import * as vscode from "vscode";
import type { DocumentSelector } from "vscode-languageclient/node";

import { globsIn } from "./manifest.js";

/** The ids of the languages that models are written in; `langwright` stands for every textX language without an own id. */
export const LANGUAGE_IDS = ["statechart", "clevr", "langwright"] as const;

/** All language ids that come with the extension: grammars are served too, but not generated. */
const SERVED_IDS = [...LANGUAGE_IDS, "textx"] as const;

const GENERIC_ID = "langwright";
const MANIFESTS = "**/langwright.toml";

/** Which documents the language server looks after, in this window. */
export class ServedDocuments implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  /** Fires when other documents are served than before. */
  readonly onDidChange = this.#changed.event;
  readonly #disposables: { dispose(): unknown }[] = [this.#changed];
  #patterns: readonly string[] = [];

  /** Reads the manifests, and reads them again whenever one changes. */
  static async open(): Promise<ServedDocuments> {
    const served = new ServedDocuments();
    served.#patterns = await patterns();
    const watcher = vscode.workspace.createFileSystemWatcher(MANIFESTS);
    const refresh = (): void => void served.#refresh();
    served.#disposables.push(
      watcher,
      watcher.onDidChange(refresh),
      watcher.onDidCreate(refresh),
      watcher.onDidDelete(refresh),
      vscode.workspace.onDidChangeWorkspaceFolders(refresh),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("langwright.filePatterns")) {
          refresh();
        }
      }),
      vscode.workspace.onDidOpenTextDocument((document) => void served.#claim(document)),
    );
    served.#claimOpen();
    await vscode.commands.executeCommand("setContext", "langwright.languageIds", LANGUAGE_IDS);
    return served;
  }

  /** The selector to start the language client with. */
  get selector(): DocumentSelector {
    const byId = SERVED_IDS.flatMap((language) => [
      { scheme: "file", language },
      { scheme: "untitled", language },
    ]);
    const byPattern = this.#patterns.map((pattern) => ({ scheme: "file", pattern }));
    return [...byId, ...byPattern];
  }

  includes(document: vscode.TextDocument): boolean {
    return vscode.languages.match(this.selector as vscode.DocumentSelector, document) > 0;
  }

  dispose(): void {
    for (const disposable of this.#disposables) {
      disposable.dispose();
    }
  }

  async #refresh(): Promise<void> {
    const found = await patterns();
    if (found.join("\n") !== this.#patterns.join("\n")) {
      this.#patterns = found;
      this.#claimOpen();
      this.#changed.fire();
    }
  }

  #claimOpen(): void {
    for (const document of vscode.workspace.textDocuments) {
      void this.#claim(document);
    }
  }

  /** Gives a document no other extension knows the generic id, which carries the editor defaults ghost text needs. */
  async #claim(document: vscode.TextDocument): Promise<void> {
    if (document.languageId === "plaintext" && this.includes(document)) {
      await vscode.languages.setTextDocumentLanguage(document, GENERIC_ID);
    }
  }
}

async function patterns(): Promise<string[]> {
  const configured = vscode.workspace.getConfiguration("langwright").get<string[]>("filePatterns", []);
  const manifests = await vscode.workspace.findFiles(MANIFESTS, "**/node_modules/**", 50);
  const texts = await Promise.all(manifests.map(readText));
  return [...new Set([...configured, ...texts.flatMap(globsIn)])].sort();
}

async function readText(uri: vscode.Uri): Promise<string> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    return "";
  }
}
