#!/usr/bin/env node
/**
 * The command that fetches Pyodide's wheels for the embedded tier, once, on a host with a network:
 *
 *     npx castellan-sandbox-prefetch --folder ./wheels [--source <url>] [--lock <path>] [package…]
 *
 * Without packages it fetches matplotlib, numpy and pandas, with what they need. The folder is then what the option
 * `packages` of `@castellan/sandbox/embedded` names.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { parseArgs } from "node:util"
import { commonPackages, prefetch } from "./PackagePrefetch.ts"

const usage = "castellan-sandbox-prefetch --folder <folder> [--source <url>] [--lock <path>] [package…]"

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const complain = (line: string): void => {
  process.stderr.write(`${line}\n`)
  process.exitCode = 1
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: "string" }, source: { type: "string" }, lock: { type: "string" } }
})

if (values.folder === undefined) complain(usage)
else {
  const fetched = await Effect.runPromiseExit(
    prefetch({
      folder: values.folder,
      packages: positionals.length === 0 ? commonPackages : positionals,
      ...(values.source === undefined ? {} : { source: new URL(values.source.replace(/\/?$/, "/")) }),
      ...(values.lock === undefined ? {} : { lock: values.lock })
    })
  )
  if (Exit.isSuccess(fetched)) for (const { file, state } of fetched.value) say(`${state} ${file}`)
  else
    for (const reason of fetched.cause.reasons)
      complain("error" in reason ? String(reason.error.message) : String(reason))
}
