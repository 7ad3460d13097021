import { parse } from "smol-toml";

/**
 * Globs for the model files that a workspace manifest speaks of.
 *
 * A language has the files with one of its `extensions` (by default its name, by default that of its grammar) and those
 * of its `patterns`; `[files]` has globs as its keys.
 *
 * @param text the content of a `langwright.toml`; one that cannot be read gives none, its fault is the server's to report
 */
export function globsIn(text: string): string[] {
  const manifest = tableOf(text);
  const languages = Array.isArray(manifest["language"]) ? manifest["language"].filter(isTable) : [];
  const files = isTable(manifest["files"]) ? Object.keys(manifest["files"]) : [];
  const found = languages.flatMap((language) => [
    ...extensionsOf(language).map((extension) => `*${literally(extension)}`),
    ...textsIn(language["patterns"]),
  ]);
  return [...new Set([...found, ...files].map((glob) => `**/${glob}`))];
}

type Table = Record<string, unknown>;

function tableOf(text: string): Table {
  try {
    return parse(text);
  } catch {
    return {};
  }
}

function extensionsOf({ extensions, name, grammar }: Table): string[] {
  if (extensions !== undefined) {
    return textsIn(extensions).map((extension) => (extension.startsWith(".") ? extension : `.${extension}`));
  }
  const stem = typeof grammar === "string" ? grammar.replace(/^.*[\\/]/, "").replace(/\.[^.]*$/, "") : undefined;
  const own = typeof name === "string" ? name : stem;
  return own === undefined ? [] : [`.${own}`];
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function literally(extension: string): string {
  return extension.replace(/[[\]{}*?]/g, "[$&]");
}
