import { randomUUID } from "node:crypto";

import * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient/node";

import type { Remedy } from "../environment/failure.js";
import { showError } from "../remedies.js";
import { History } from "./history.js";
import type { Place } from "./history.js";
import type { GrowingText, Preview } from "./preview.js";
import { GENERATE, PROGRESS } from "./protocol.js";
import type { GenerateParams, GenerateResult } from "./protocol.js";
import { BEGINNING, heard, told } from "./story.js";
import type { Story } from "./story.js";

type Request = Omit<GenerateParams, "token">;

const GENERATING = "langwright.generating";

/** The command *Generate model from comment*: asks the server, shows the text as it grows, applies it as one edit. */
export class Generator implements vscode.Disposable {
  #running: vscode.CancellationTokenSource | undefined;

  constructor(
    private readonly preview: Preview,
    private readonly log: vscode.LogOutputChannel,
    private readonly remedies: () => readonly Remedy[],
  ) {}

  /**
   * Generates into the document of `editor`.
   *
   * The server takes the selection or the comment at the cursor as the description; if there is neither, the user is
   * asked for one.
   */
  async generate(client: BaseLanguageClient, editor: vscode.TextEditor): Promise<void> {
    if (this.#running !== undefined) {
      void this.#offerToStop();
      return;
    }
    const running = new vscode.CancellationTokenSource();
    this.#running = running;
    // Both before anything is waited for: what counts is where the cursor was, and the text as it was, at the command.
    const request = requestFor(client, editor);
    const attempt = new Attempt(client, editor.document, this.preview, running);
    try {
      await vscode.commands.executeCommand("setContext", GENERATING, true);
      await this.#generate(request, attempt, editor);
    } finally {
      attempt.dispose();
      this.#running = undefined;
      running.dispose();
      await vscode.commands.executeCommand("setContext", GENERATING, false);
    }
  }

  /** Stops the running generation, if there is one. */
  stop(): void {
    this.#running?.cancel();
  }

  dispose(): void {
    this.stop();
  }

  async #generate(request: Request, attempt: Attempt, editor: vscode.TextEditor): Promise<void> {
    let result = await attempt.ask(request);
    if (result.status === "needsInput") {
      const description = await vscode.window.showInputBox({
        title: "Generate a model",
        prompt: result.message ?? "Describe the model in a sentence or two.",
        placeHolder: "Description of the model",
        ignoreFocusOut: true,
      });
      if (description === undefined || description.trim() === "") {
        return;
      }
      result = await attempt.ask({ ...request, description });
    }
    await this.#conclude(result, attempt, editor);
  }

  async #conclude(result: GenerateResult, attempt: Attempt, editor: vscode.TextEditor): Promise<void> {
    switch (result.status) {
      case "ok":
        if (result.edit) {
          await attempt.apply(result, editor);
        }
        break;
      case "cancelled":
        await this.#offerWhatIsThere(result, attempt, editor);
        break;
      case "error":
      case "needsInput": {
        const reason = result.message ?? "The language server gave no reason.";
        this.log.error(`generate: ${reason}`);
        void showError(`No model was generated: ${reason}`, this.remedies());
      }
    }
  }

  /** A stopped generation may still end in a valid model; whether it is wanted is the user's choice. */
  async #offerWhatIsThere(result: GenerateResult, attempt: Attempt, editor: vscode.TextEditor): Promise<void> {
    if (!result.edit) {
      vscode.window.setStatusBarMessage("Langwright: generation stopped", 5000);
      return;
    }
    const insert = "Insert it";
    const question = "The generation was stopped. What is there has been completed to a valid model.";
    if ((await vscode.window.showInformationMessage(question, insert)) === insert) {
      await attempt.apply(result, editor);
    }
  }

  async #offerToStop(): Promise<void> {
    const stop = "Stop it";
    if ((await vscode.window.showWarningMessage("A model is being generated already.", stop)) === stop) {
      this.stop();
    }
  }
}

function requestFor(client: BaseLanguageClient, editor: vscode.TextEditor): Request {
  const { document, selection } = editor;
  return {
    uri: client.code2ProtocolConverter.asUri(document.uri),
    position: client.code2ProtocolConverter.asPosition(selection.active),
    ...(!selection.isEmpty && { selection: client.code2ProtocolConverter.asRange(selection) }),
  };
}

/** One use of the command: the document as it changes meanwhile, and the requests made for it. */
class Attempt implements vscode.Disposable {
  readonly #history: History;
  readonly #listener: vscode.Disposable;

  constructor(
    private readonly client: BaseLanguageClient,
    private readonly document: vscode.TextDocument,
    private readonly preview: Preview,
    private readonly running: vscode.CancellationTokenSource,
  ) {
    this.#history = new History(document.version, document.getText());
    this.#listener = vscode.workspace.onDidChangeTextDocument(({ document: changed, contentChanges }) => {
      if (changed === document) {
        const changes = contentChanges.map(({ rangeOffset, rangeLength, text }) => ({
          offset: rangeOffset,
          length: rangeLength,
          text,
        }));
        this.#history.record(changed.version, changes);
      }
    });
  }

  /**
   * Sends the request and shows its progress until the answer is there.
   *
   * @param request with places in the text as it was when the command was given
   */
  async ask(request: Request): Promise<GenerateResult> {
    const options = { location: vscode.ProgressLocation.Notification, title: "Generating a model", cancellable: true };
    return vscode.window.withProgress(options, async (progress, cancelled) => {
      const button = cancelled.onCancellationRequested(() => { this.running.cancel(); });
      try {
        return await this.#follow(request, (message) => { progress.report({ message }); });
      } finally {
        button.dispose();
      }
    });
  }

  /**
   * Puts the generated text where it belongs now, as one undoable step.
   *
   * Where the user has meanwhile changed the very place, nothing of theirs is overwritten and nothing generated is
   * lost: the text opens in an editor of its own.
   */
  async apply(result: GenerateResult, editor: vscode.TextEditor): Promise<void> {
    const { edit } = result;
    if (!edit) {
      return;
    }
    const newText = edit.newText.replace(/\r\n|\n/g, this.document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n");
    for (let attempt = 0; attempt < 3; attempt++) {
      const range = this.#rangeNow(edit.range.start, edit.range.end, result.version ?? undefined);
      if (range === undefined || this.document.isClosed) {
        break;
      }
      const change = new vscode.WorkspaceEdit();
      change.replace(this.document.uri, range, newText);
      // VS Code refuses an edit that was made for another version than the document has by then.
      if (await vscode.workspace.applyEdit(change)) {
        this.#showBeginning(range.start, editor);
        return;
      }
    }
    await this.#keepApart(newText);
  }

  dispose(): void {
    this.#listener.dispose();
  }

  async #follow(request: Request, report: (message: string) => void): Promise<GenerateResult> {
    const token = randomUUID();
    let story: Story = BEGINNING;
    report(told(story));
    // Opened with the first text: a request that only asks for a description must not rearrange the window.
    let growing: Promise<GrowingText> | undefined;
    const listener = this.client.onNotification(PROGRESS, (progress) => {
      if (progress.token !== token) {
        return;
      }
      story = heard(story, progress);
      report(told(story));
      const text = story.text.trimStart();
      if (text !== "") {
        growing ??= this.preview.open(this.document, token);
        void growing.then((preview) => { preview.show(text); });
      }
    });
    try {
      const current = this.#current(request);
      if (current === undefined) {
        return { status: "error", message: "The text at the cursor was edited before the generation began; try again." };
      }
      return await this.client.sendRequest(GENERATE, { ...current, token }, this.running.token);
    } catch (failure) {
      if (this.running.token.isCancellationRequested) {
        return { status: "cancelled" };
      }
      return { status: "error", message: failure instanceof Error ? failure.message : String(failure) };
    } finally {
      listener.dispose();
      await (await growing)?.close();
    }
  }

  /** The request with its places where they lie now; undefined if what stood there was edited. */
  #current(request: Request): Request | undefined {
    const { position, selection, ...rest } = request;
    const cursor = this.#rangeNow(position, position);
    const selected = selection && this.#rangeNow(selection.start, selection.end);
    if (cursor === undefined || (selection && selected === undefined)) {
      return undefined;
    }
    const to = this.client.code2ProtocolConverter;
    return { ...rest, position: to.asPosition(cursor.start), ...(selected && { selection: to.asRange(selected) }) };
  }

  #rangeNow(start: Place, end: Place, version?: number): vscode.Range | undefined {
    const stretch = this.#history.now(start, end, version);
    return stretch && new vscode.Range(this.document.positionAt(stretch.start), this.document.positionAt(stretch.end));
  }

  /** A model is read from its beginning; the cursor would else be pushed to its end. */
  #showBeginning(beginning: vscode.Position, editor: vscode.TextEditor): void {
    if (vscode.window.visibleTextEditors.includes(editor)) {
      editor.selection = new vscode.Selection(beginning, beginning);
      editor.revealRange(new vscode.Range(beginning, beginning));
    }
  }

  async #keepApart(text: string): Promise<void> {
    const apart = await vscode.workspace.openTextDocument({ language: this.document.languageId, content: text });
    await vscode.window.showTextDocument(apart, { viewColumn: vscode.ViewColumn.Beside });
    void vscode.window.showWarningMessage(
      "The place for the model was edited while it was generated. The model is in a new editor beside it.",
    );
  }
}
