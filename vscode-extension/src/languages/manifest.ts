import { parse } from "smol-toml";

/**
 * The file extensions that a workspace manifest gives to its languages, with their dot.
 *
 * @param text the content of a `langwright.toml`; one that cannot be read gives none, its fault is the server's to report
 */
export function extensionsIn(text: string): string[] {
  let manifest: unknown;
  try {
    manifest = parse(text);
  } catch {
    return [];
  }
  const found = [...tables(manifest)].flatMap((table) => extensionsOf(table));
  return [...new Set(found.map((extension) => (extension.startsWith(".") ? extension : `.${extension}`)))];
}

/** A glob for all files with one of the extensions. */
export function globOf(extension: string): string {
  return `**/*${extension.replace(/[[\]{}*?]/g, "[$&]")}`;
}

function* tables(value: unknown): Generator<Record<string, unknown>> {
  if (Array.isArray(value)) {
    for (const item of value) {
      yield* tables(item);
    }
  } else if (typeof value === "object" && value !== null && !(value instanceof Date)) {
    yield value as Record<string, unknown>;
    for (const item of Object.values(value)) {
      yield* tables(item);
    }
  }
}

function extensionsOf(table: Record<string, unknown>): string[] {
  const { extensions } = table;
  return Array.isArray(extensions) ? extensions.filter((item) => typeof item === "string") : [];
}
