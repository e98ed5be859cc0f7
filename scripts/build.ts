/**
 * Builds every public package into its `dist`: tsup writes the JavaScript, `tsc` the declarations.
 *
 * One file in is one file out. Each source is an entry and every import of it stays an import, so that a deep import
 * finds its file, a stack trace names it, and `import.meta.url` means in `dist` what it means in `src`.
 */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { build } from "tsup"
import type { Options } from "tsup"
import { publicPackages, sourcesIn } from "./packages.ts"
import type { Package } from "./packages.ts"
import { command, main } from "./steps.ts"

/** Leaves every import where it is; only `./Chat.ts` becomes `./Chat.js`. */
const keepImports: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "keep-imports",
  setup: ({ onResolve }) => {
    onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === "entry-point" ? undefined : { path: path.replace(/^(\.{1,2}\/.*)\.ts$/, "$1.js"), external: true }
    )
  }
}

const javascript = async ({ folder }: Package): Promise<void> => {
  const src = join(folder, "src")
  await build({
    config: false,
    entry: Object.fromEntries(sourcesIn(src).map((path) => [path.slice(0, -".ts".length), join(src, path)])),
    outDir: join(folder, "dist"),
    tsconfig: join(folder, "tsconfig.json"),
    format: "esm",
    target: "node22",
    platform: "neutral",
    splitting: false,
    sourcemap: true,
    removeNodeProtocol: false,
    silent: true,
    esbuildPlugins: [keepImports],
    // The sources are in the published package already.
    esbuildOptions: (options) => {
      options.sourcesContent = false
    }
  })
}

const packages = publicPackages()

await main([
  {
    name: "clean",
    run: () => {
      for (const { folder } of packages) rmSync(join(folder, "dist"), { recursive: true, force: true })
    }
  },
  { name: "declarations", run: () => command("tsc", ["-b", ...packages.map(({ folder }) => folder)]) },
  ...packages.map((one) => ({ name: one.name, run: () => javascript(one) }))
])
