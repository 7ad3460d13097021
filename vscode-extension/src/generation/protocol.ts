import { NotificationType, RequestType } from "vscode-languageclient/node";
import type { Position, Range } from "vscode-languageclient/node";

/** What the server is asked to write. Without a description and a selection it takes the comment at the position. */
export interface GenerateParams {
  readonly uri: string;
  readonly position: Position;
  readonly selection?: Range;
  readonly description?: string;
  /** Names this generation in the progress notifications. */
  readonly token: string;
}

export interface GenerateResult {
  readonly status: "ok" | "needsInput" | "cancelled" | "error";
  readonly edit?: { readonly range: Range; readonly newText: string } | null;
  /** The version of the document the range of the edit refers to. */
  readonly version?: number | null;
  readonly message?: string | null;
}

export interface GenerateProgress {
  readonly token: string;
  readonly kind: "loading" | "prefill" | "text" | "done";
  /** All that is written so far: the generator may take pieces back. */
  readonly text?: string | null;
  readonly message?: string | null;
}

export const GENERATE = new RequestType<GenerateParams, GenerateResult, void>("langwright/generate");
export const PROGRESS = new NotificationType<GenerateProgress>("langwright/progress");
