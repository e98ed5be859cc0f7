/**
 * The test that a fork-server passes before it serves anybody: a session tries to break every wall and limit that
 * sessions are promised, from within, while the host listens to what must not reach it.
 *
 * The limits are small ones, so that they are reached in milliseconds; what holds them is the same.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { createSocket } from "node:dgram"
import { createServer } from "node:net"
import { homedir } from "node:os"
import { resolve } from "node:path"
import * as Duration from "effect/Duration"
import { type LinuxLimits } from "../LinuxLimits.ts"
import { whyNoWalls, type SystemFacts } from "../LinuxRemedies.ts"
import { LinuxPromise, LinuxUnavailable } from "../LinuxUnavailable.ts"
import type { ControlGroups } from "./ControlGroups.ts"
import { type ForkServer, makeToken, type OpenedSession, readLine } from "./ForkServer.ts"
import { environment } from "./OuterSandbox.ts"
import { within } from "./RealTime.ts"
import { Breaches, type Program } from "./SessionRequest.ts"

const mebibyte = 1024 * 1024

const limits: LinuxLimits = {
  memory: 128 * mebibyte,
  addressSpace: 512 * mebibyte,
  processes: 16,
  openFiles: 64,
  fileSize: mebibyte,
  cpu: Duration.minutes(1),
  cpus: 1,
  disk: { files: 4 * mebibyte, temporary: 4 * mebibyte, shared: 4 * mebibyte, entries: 128 }
}

/** What is tested. */
export interface TestSubject {
  readonly server: ForkServer
  readonly controlGroups: ControlGroups | undefined
  readonly facts: SystemFacts
  /** Paths of the host that a session must not see. */
  readonly hidden: ReadonlyArray<string>
  /** Real milliseconds in which what holds too much memory is gone; absent: as long as everything has. */
  readonly memoryPatience?: number
}

const broken = (promise: string, detail: string): LinuxUnavailable =>
  new LinuxUnavailable({
    promise: isPromise(promise) ? promise : "namespaces",
    message: `a session broke what it is promised about ${promise.replaceAll("_", " ")}: ${detail}`,
    remedy: ""
  })

/** Real milliseconds in which the attempts are over, however loaded the machine is. */
const patience = 30_000

const isPromise = Schema.is(LinuxPromise)

const tookForEver = (promise: LinuxPromise): LinuxUnavailable => broken(promise, "what was tried did not end")

const decodeBreaches = Schema.decodeUnknownExit(Breaches)

/** A listener of the host's loopback, over TCP and UDP, that counts what reaches it. */
const listen: Effect.Effect<{ readonly port: number; readonly count: () => number }, never, Scope.Scope> = Effect.gen(
  function* () {
    let count = 0
    const server = createServer((connection) => {
      count++
      connection.destroy()
    })
    const datagrams = createSocket("udp4", () => count++)
    const port = yield* Effect.acquireRelease(
      Effect.callback<number>((resume) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const bound = typeof address === "object" && address !== null ? address.port : 0
          datagrams.on("error", () => undefined)
          datagrams.bind(bound, "127.0.0.1", () => resume(Effect.succeed(bound)))
          // Another program may have the port of that number for datagrams; then only connections are listened to.
          datagrams.once("error", () => resume(Effect.succeed(bound)))
        })
      }),
      () =>
        Effect.sync(() => {
          server.close()
          datagrams.close()
        })
    )
    return { port, count: () => count }
  }
)

const open = Effect.fnUntraced(function* (
  { controlGroups, facts, server }: TestSubject,
  work: Program
): Effect.fn.Return<OpenedSession, LinuxUnavailable, Scope.Scope> {
  const token = yield* makeToken
  const group = controlGroups === undefined ? undefined : yield* controlGroups.open(token, limits)
  return yield* server
    .open({ token, limits, controlGroup: group?.name, work })
    .pipe(Effect.mapError(({ reason, step }) => whyNoWalls(step, reason, facts)))
})

const walls = Effect.fnUntraced(function* (subject: TestSubject) {
  const { count, port } = yield* listen
  const { channel } = yield* open(subject, {
    program: "probe",
    parameters: {
      environment: [...Object.keys(environment), "PWD", "MPLBACKEND"],
      hidden: [...subject.hidden, "/etc/shadow", "/listen", "/stage", "/control-groups", "/run/filter"],
      port,
      address_space: limits.addressSpace,
      file_size: limits.fileSize,
      disk: {
        "/sandbox/files": limits.disk.files,
        "/tmp": limits.disk.temporary,
        "/dev/shm": limits.disk.shared
      },
      entries: limits.disk.entries,
      open_files: limits.openFiles,
      processes: limits.processes
    }
  })
  const said = yield* Effect.mapError(readLine(channel), (reason) => broken("processes", reason))
  const found = decodeBreaches(said)
  if (Exit.isFailure(found)) return yield* broken("processes", "it did not say what it had tried")
  const [first] = found.value.breaches
  if (first !== undefined) return yield* broken(first.promise, first.detail)
  if (count() > 0) return yield* broken("network", "the host was reached")
})

/** Several processes hold more memory together than the session may, each of them within its own limit. */
const memory = Effect.fnUntraced(function* (subject: TestSubject) {
  const { channel, gone } = yield* open(subject, {
    program: "probe",
    parameters: { hold: limits.memory / 2, processes: 3 }
  })
  channel.resume()
  yield* gone
})

/** Passes, or fails with the first promise that was broken. */
export const run = (subject: TestSubject): Effect.Effect<void, LinuxUnavailable> =>
  Effect.all(
    [
      within(Effect.scoped(walls(subject)), patience, () => Effect.fail(tookForEver("processes"))),
      within(Effect.scoped(memory(subject)), subject.memoryPatience ?? patience, () =>
        Effect.fail(tookForEver("memory"))
      )
    ],
    { concurrency: 2, discard: true }
  )

/** What every session has, and what is its own there: a host's home of that name says nothing. */
const sessionsOwn: ReadonlySet<string> = new Set(["/tmp", "/dev", "/dev/shm", "/proc", "/sandbox", "/sandbox/files"])

/** Paths of this host that a session must not see, where its root has the entries `names`. */
export const hiddenPaths = (folder: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  [folder, homedir(), process.cwd(), "/root", "/home", "/run", "/srv", "/sys", "/var"]
    .map((path) => resolve(path))
    .filter((path) => {
      const [, top = ""] = path.split("/")
      return top !== "" && !names.includes(top) && !sessionsOwn.has(path)
    })
