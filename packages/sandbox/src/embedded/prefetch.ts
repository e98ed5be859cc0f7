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

/** What the command was given; undefined where that is no command, which is said. */
const given = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { folder: { type: "string" }, source: { type: "string" }, lock: { type: "string" } }
    })
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error))
    return undefined
  }
}

/** Where the wheels are: a folder, whether or not its address ends as one. */
const sourceOf = (address: string): URL | undefined =>
  URL.canParse(address) ? new URL(address.replace(/\/?$/, "/")) : undefined

const command = given()
const { folder, lock, source: address } = command?.values ?? {}
const source = address === undefined ? undefined : sourceOf(address)

if (folder === undefined) complain(usage)
else if (address !== undefined && source === undefined) complain(`${address} is no URL\n${usage}`)
else {
  const names = command?.positionals ?? []
  const fetched = await Effect.runPromiseExit(
    prefetch({
      folder,
      packages: names.length === 0 ? commonPackages : names,
      ...(source === undefined ? {} : { source }),
      ...(lock === undefined ? {} : { lock })
    })
  )
  if (Exit.isSuccess(fetched)) for (const { file, state } of fetched.value) say(`${state} ${file}`)
  else
    for (const reason of fetched.cause.reasons)
      complain("error" in reason ? String(reason.error.message) : String(reason))
}
