// Bundles the extension into dist/extension.js, or with --tests the unit tests into out/test/.
import { readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const shared = { bundle: true, platform: "node", format: "cjs", target: "node20", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  rmSync("out", { recursive: true, force: true });
  await build({
    ...shared,
    entryPoints: readdirSync("test").map((name) => `test/${name}`),
    outdir: "out/test",
    sourcemap: "inline",
  });
} else {
  const production = process.argv.includes("--production");
  rmSync("dist", { recursive: true, force: true });
  await build({
    ...shared,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    // VS Code provides this module; it is not on disk.
    external: ["vscode"],
    // Otherwise the UMD builds of some dependencies are taken, whose inner requires cannot be bundled.
    mainFields: ["module", "main"],
    minify: production,
    sourcemap: !production,
  });
}
