import * as vscode from "vscode";

const SCHEME = "langwright-preview";
const REDRAW_MS = 80;

/**
 * Shows a text beside the editor while it grows.
 *
 * The document itself stays untouched until the whole text is there, so that one undo takes it back and the user can
 * type on meanwhile.
 */
export class Preview implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #texts = new Map<string, string>();
  readonly #registration: vscode.Disposable;

  constructor() {
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: this.#changed.event,
      provideTextDocumentContent: (uri) => this.#texts.get(uri.toString()) ?? "",
    });
  }

  /** Opens an empty preview beside `document`, in its language; the focus stays where it is. */
  async open(document: vscode.TextDocument, token: string): Promise<GrowingText> {
    const name = document.uri.path.split("/").at(-1) ?? "model";
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/Growing: ${name}`, query: token });
    this.#texts.set(uri.toString(), "");
    const opened = await vscode.workspace.openTextDocument(uri);
    const shown = await vscode.languages.setTextDocumentLanguage(opened, document.languageId);
    await vscode.window.showTextDocument(shown, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: true,
    });
    return new GrowingText(uri, (text) => {
      this.#texts.set(uri.toString(), text);
      this.#changed.fire(uri);
    }, () => this.#texts.delete(uri.toString()));
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

/** One open preview. */
export class GrowingText {
  #timer: NodeJS.Timeout | undefined;
  #newest = "";

  constructor(
    private readonly uri: vscode.Uri,
    private readonly draw: (text: string) => void,
    private readonly forget: () => void,
  ) {}

  /** Shows `text`, at once or with the next redraw, and keeps its end in view. */
  show(text: string): void {
    this.#newest = text;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.draw(this.#newest);
      this.#followEnd();
    }, REDRAW_MS);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const ours = tabs.filter(
      ({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === this.uri.toString(),
    );
    await vscode.window.tabGroups.close(ours, true);
    this.forget();
  }

  #followEnd(): void {
    const editor = vscode.window.visibleTextEditors.find(
      ({ document }) => document.uri.toString() === this.uri.toString(),
    );
    if (editor !== undefined) {
      const end = editor.document.positionAt(this.#newest.length);
      editor.revealRange(new vscode.Range(end, end));
    }
  }
}
