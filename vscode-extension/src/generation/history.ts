/** One replaced stretch of a document, in offsets of the text before the change. */
export interface Change {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/** A place in a text, as LSP counts: from 0, characters in UTF-16 units. */
export interface Place {
  readonly line: number;
  readonly character: number;
}

/** A stretch of a text, in UTF-16 offsets. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/**
 * The versions of one document since a request was sent.
 *
 * An answer refers to the version the server had seen; meanwhile the user may have typed on. The history carries a
 * range of any version recorded here to the newest one, or says that the two collide.
 */
export class History {
  readonly #steps: { readonly version: number; readonly changes: readonly Change[] }[] = [];

  constructor(
    private readonly firstVersion: number,
    private readonly firstText: string,
  ) {}

  /** Records what led to `version`: changes that do not overlap, all in offsets of the version before. */
  record(version: number, changes: readonly Change[]): void {
    this.#steps.push({ version, changes });
  }

  /**
   * Where a range lies now.
   *
   * @param version the version the range refers to; that of the beginning if not given
   * @returns undefined if the version is older than the history or a later change overlaps the range
   */
  now(start: Place, end: Place, version = this.firstVersion): Stretch | undefined {
    const text = this.#textOf(version);
    if (text === undefined) {
      return undefined;
    }
    let stretch: Stretch | undefined = { start: offsetOf(text, start), end: offsetOf(text, end) };
    for (const step of this.#steps.filter((one) => one.version > version)) {
      stretch = stretch && moved(stretch, step.changes);
    }
    return stretch;
  }

  #textOf(version: number): string | undefined {
    if (version < this.firstVersion) {
      return undefined;
    }
    const until = this.#steps.filter((step) => step.version <= version);
    return until.reduce((text, step) => applied(text, step.changes), this.firstText);
  }
}

/** A text typed exactly at the beginning of the stretch is taken to stand before it. */
function moved(stretch: Stretch, changes: readonly Change[]): Stretch | undefined {
  let shift = 0;
  for (const { offset, length, text } of changes) {
    if (offset + length <= stretch.start) {
      shift += text.length - length;
    } else if (offset < stretch.end) {
      return undefined;
    }
  }
  return { start: stretch.start + shift, end: stretch.end + shift };
}

function applied(text: string, changes: readonly Change[]): string {
  const fromTheEnd = [...changes].sort((one, other) => other.offset - one.offset);
  return fromTheEnd.reduce(
    (before, { offset, length, text: piece }) => before.slice(0, offset) + piece + before.slice(offset + length),
    text,
  );
}

function offsetOf(text: string, place: Place): number {
  const breaks = /\r\n|\n|\r/g;
  let start = 0;
  for (let line = 0; line < place.line; line++) {
    if (breaks.exec(text) === null) {
      return text.length;
    }
    start = breaks.lastIndex;
  }
  const end = breaks.exec(text)?.index ?? text.length;
  return Math.min(start + place.character, end);
}
