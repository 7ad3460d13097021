import type { GenerateProgress } from "./protocol.js";

/** What has been heard of one generation, folded from its progress notifications. */
export interface Story {
  readonly phase: "waiting" | GenerateProgress["kind"];
  readonly message: string;
  /** The text written so far. */
  readonly text: string;
}

export const BEGINNING: Story = { phase: "waiting", message: "", text: "" };

/** The story after one more notification. */
export function heard(story: Story, progress: GenerateProgress): Story {
  return { phase: progress.kind, message: progress.message ?? "", text: progress.text ?? story.text };
}

/** One line that tells how far it is. */
export function told(story: Story): string {
  switch (story.phase) {
    case "waiting":
      return "asking the language server";
    case "loading":
      return story.message || "loading the language model";
    case "prefill":
      return story.message || "reading the description";
    case "text":
    case "done":
      return written(story.text);
  }
}

const LONGEST_LINE = 48;

function written(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const last = lines.at(-1)?.trim() ?? "";
  const shown = last.length > LONGEST_LINE ? `${last.slice(0, LONGEST_LINE - 1)}…` : last;
  const count = lines.length === 1 ? "1 line" : `${lines.length} lines`;
  return last === "" ? "writing" : `${count}: ${shown}`;
}
