/**
 * A fork-server of which some lines, or the filter of system calls, are not what they are: for tests of what becomes of
 * it. It imports no packages, so that it starts at once.
 */
import * as Effect from "effect/Effect"
import { readFile, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ForkServer from "../../src/linux/internal/ForkServer.ts"
import * as Host from "../../src/linux/internal/Host.ts"
import { hostRoot } from "../../src/linux/internal/OuterRoots.ts"
import { outerArguments, outerCommand } from "../../src/linux/internal/OuterSandbox.ts"
import * as PrivateFolder from "../../src/linux/internal/PrivateFolder.ts"
import { assemble, type Instruction, instructions } from "../../src/linux/internal/SystemCallFilter.ts"

/** A line of a program below `python/`, which must be there, and what it becomes. */
export interface ChangedLine {
  readonly file: string
  readonly line: string
  readonly becomes: string
}

const withoutPackages: ChangedLine = {
  file: "castellan_zygote.py",
  line: "packages = castellan_supervisor.warm()",
  becomes: "packages = []"
}

/** Starts one, with a delegated control group or none; it ends with its scope. */
export const startChanged = Effect.fnUntraced(function* (
  lines: ReadonlyArray<ChangedLine>,
  filter: (program: ReadonlyArray<Instruction>) => ReadonlyArray<Instruction> = (program) => program,
  controlGroup?: string
) {
  const user = yield* Host.chooseUser(undefined)
  const bubblewrap = yield* Host.findBubblewrap(undefined)
  const program = assemble(filter(instructions(yield* Host.architecture)))
  const folder = yield* PrivateFolder.make(tmpdir(), program, user)
  for (const { becomes, file, line } of [withoutPackages, ...lines]) {
    yield* Effect.promise(async () => {
      const path = join(folder, "python", file)
      const text = await readFile(path, "utf8")
      if (!text.includes(line)) throw new Error(`${file} has no ${line}`)
      await writeFile(
        path,
        text.replace(line, () => becomes)
      )
    })
  }
  const listen = yield* PrivateFolder.makeListenFolder(folder, user)
  const { names, python, root } = yield* Effect.promise(() => hostRoot(folder, "/usr/bin/python3"))
  const socketBytes = yield* Host.socketBytes
  const sandbox = { root, folder, listen, python, controlGroup, socketBytes }
  const server = yield* ForkServer.start(
    { bubblewrap, options: outerArguments(sandbox), command: outerCommand(sandbox), user },
    join(listen, "socket")
  )
  return { folder, names, server }
})
