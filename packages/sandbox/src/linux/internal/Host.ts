/**
 * What there is on this host for the Linux tier: the system's version, its settings, bubblewrap, and who may run it.
 */
import * as Effect from "effect/Effect"
import { constants } from "node:fs"
import { access, readFile } from "node:fs/promises"
import { release } from "node:os"
import {
  noOtherUser,
  restrictingSettings,
  type SystemFacts,
  withoutBubblewrap,
  wrongPlatform
} from "../LinuxRemedies.ts"
import type { LinuxUnavailable } from "../LinuxUnavailable.ts"
import type { ProcessUser } from "./ForkServerHandle.ts"
import type { Architecture } from "./SystemCalls.ts"

/** The oldest kernel that counts processes by namespace, so that a session's limit is its own. */
const oldestKernel = [5, 14] as const

const places = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"]

const readable = (path: string): Promise<string | undefined> =>
  readFile(path, "utf8").then(
    (text) => text.trim(),
    () => undefined
  )

/** What the system says of itself. */
export const facts: Effect.Effect<SystemFacts> = Effect.promise(async () => {
  const names = Object.keys(restrictingSettings)
  const values = await Promise.all(names.map((name) => readable(`/proc/sys/${name}`)))
  const settings = Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]))
  const marks = await Promise.all(["/.dockerenv", "/run/.containerenv"].map(readable))
  return { settings, inContainer: marks.some((mark) => mark !== undefined) }
})

/** Bytes of a buffer where the system does not tell: what it is where nobody has changed it. */
const usualBuffer = 212_992

/** Bytes that a socket's buffers hold at most, as they begin: sessions make none larger. */
export const socketBytes: Effect.Effect<number> = Effect.promise(async () => {
  const sizes = await Promise.all(
    ["wmem_default", "rmem_default"].map((name) => readable(`/proc/sys/net/core/${name}`))
  )
  return sizes.reduce((sum, size) => sum + (Number(size) || usualBuffer), 0)
})

const isNewEnough = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > oldestKernel[0] || (major === oldestKernel[0] && minor >= oldestKernel[1])
}

/** The architecture, where the tier knows it and the system is a Linux that is new enough. */
export const architecture: Effect.Effect<Architecture, LinuxUnavailable> = Effect.suspend(() => {
  if (process.platform !== "linux") return Effect.fail(wrongPlatform(`this is ${process.platform}, not Linux`))
  if (process.arch !== "x64" && process.arch !== "arm64") {
    return Effect.fail(wrongPlatform(`there is no filter of system calls for ${process.arch}`))
  }
  if (!isNewEnough(release())) {
    return Effect.fail(wrongPlatform(`the kernel is ${release()}, and ${oldestKernel.join(".")} is needed`))
  }
  return Effect.succeed(process.arch)
})

/** Where bubblewrap is. */
export const findBubblewrap = Effect.fnUntraced(function* (
  given: string | undefined
): Effect.fn.Return<string, LinuxUnavailable> {
  const looked = given === undefined ? places : [given]
  for (const path of looked) {
    const isThere = yield* Effect.promise(() =>
      access(path, constants.X_OK).then(
        () => true,
        () => false
      )
    )
    if (isThere) return path
  }
  return yield* Effect.fail(withoutBubblewrap(looked))
})

/** Nobody, as most systems number it. */
const nobody: ProcessUser = { uid: 65_534, gid: 65_534 }

/** Who the sandbox runs as: never root. Undefined: whoever the host runs as. */
export const chooseUser = (
  given: ProcessUser | undefined
): Effect.Effect<ProcessUser | undefined, LinuxUnavailable> => {
  const own = process.getuid?.()
  const group = process.getgid?.()
  if (own === 0) {
    const chosen = given ?? nobody
    return chosen.uid === 0 || chosen.gid === 0
      ? Effect.fail(noOtherUser("the host is root, and the sandbox was told to be root as well"))
      : Effect.succeed(chosen)
  }
  return given === undefined || (given.uid === own && given.gid === group)
    ? Effect.succeed(undefined)
    : Effect.fail(noOtherUser(`the host is user ${own}, which cannot become user ${given.uid}`))
}
