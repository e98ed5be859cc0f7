/**
 * The Python that plays the sandboxes' own in tests.
 */
import { spawnSync } from "node:child_process"

const candidates = ["/usr/bin/python3", "python3"]

const suits = (program: string): boolean => {
  const tried = spawnSync(program, ["-I", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"], {
    stdio: "ignore"
  })
  return tried.status === 0
}

/** A program that runs Python 3.11 or later; absent where the machine has none, or is no Linux. */
export const python: string | undefined = process.platform === "linux" ? candidates.find(suits) : undefined

if (python === undefined) {
  process.stderr.write("SKIPPED: tests of remote sandboxes need Linux and Python 3.11 or later, which are not here\n")
}
