#!/usr/bin/env node
/**
 * The command that builds a root for the Linux tier, so that the host's own files are not the sandbox's:
 *
 *     npx castellan-sandbox-root --folder ./root [package…]
 *     npx castellan-sandbox-root --folder ./root --environment ./venv
 *
 * The packages are Debian's that are installed; without any it takes NumPy, pandas and matplotlib. The folder is then what
 * the option `root` of `@castellan/sandbox/linux` names.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { parseArgs } from "node:util"
import { build } from "./PythonRoot.ts"

const usage = "castellan-sandbox-root --folder <folder> [--environment <folder> | package…]"

const commonPackages = ["python3-numpy", "python3-pandas", "python3-matplotlib"]

const complain = (line: string): void => {
  process.stderr.write(`${line}\n`)
  process.exitCode = 1
}

/** What the command was given; undefined where that is no command, which is said. */
const given = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { folder: { type: "string" }, environment: { type: "string" } }
    })
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error))
    return undefined
  }
}

const command = given()
const { environment, folder } = command?.values ?? {}
const names = command?.positionals ?? []

if (folder === undefined) complain(usage)
else if (environment !== undefined && names.length > 0) complain(`packages go into no environment\n${usage}`)
else {
  const packages = names.length === 0 ? commonPackages : names
  const built = await Effect.runPromise(
    Effect.result(build(folder, environment === undefined ? { packages } : { environment }))
  )
  if (Result.isFailure(built)) complain(built.failure.message)
  else {
    const { bytes, files, path, python } = built.success
    process.stdout.write(`${path}: ${files} files, ${Math.ceil(bytes / 1024 / 1024)} MiB, Python at ${python}\n`)
  }
}
