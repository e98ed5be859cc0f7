/**
 * A fork-server as a resource: started, asked for sessions, and gone with everything that runs in it when its scope
 * closes.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { randomBytes } from "node:crypto"
import { connect, type Socket } from "node:net"
import type { LinuxLimits } from "../LinuxLimits.ts"
import { ForkServerHandle, type HandleOptions, type Ready } from "./ForkServerHandle.ts"
import { within } from "./RealTime.ts"
import { encodeRequest, type Program, Walls } from "./SessionRequest.ts"

/** What a session is opened with. */
export interface Opening {
  /** Names the session between the host and the fork-server. */
  readonly token: string
  readonly limits: LinuxLimits
  /** The session's control group below the delegated one; absent: the fork-server watches its memory. */
  readonly controlGroup: string | undefined
  readonly work: Program
}

/** A session's walls did not come up. */
export interface NoWalls {
  readonly step: string
  readonly reason: string
}

/** A session of which the walls are up. */
export interface OpenedSession {
  /** The control channel. What the session says next is what comes out of it. */
  readonly channel: Socket
  /** Completes once nothing of the session is left; true where it was ended for the memory that it held. */
  readonly gone: Effect.Effect<boolean>
  /** The same where its connection has ended: a fork-server that does not see to it in time ends with all its sessions. */
  readonly goneInTime: Effect.Effect<boolean>
  /** Bytes of memory that it holds, as the fork-server sees them. */
  readonly memory: Effect.Effect<number | undefined>
}

/** A running fork-server. */
export interface ForkServer extends Ready {
  readonly isRunning: () => boolean
  /** The number of its outermost process. */
  readonly pid: number | undefined
  /** Opens a session; closing the scope ends all of its processes before it completes. */
  readonly open: (opening: Opening) => Effect.Effect<OpenedSession, NoWalls, Scope.Scope>
}

/** A name that nobody guesses. */
export const makeToken: Effect.Effect<string> = Effect.sync(() => randomBytes(16).toString("hex"))

/** The bytes of the first line, at most: it is ours. */
const longestLine = 16_384

/**
 * Sessions that are opened at the same time. The fork-server opens one after the other; more of them would only wait
 * there, in a line that has an end, while their time runs.
 */
const openedAtOnce = 16

/** Real milliseconds: a session is open in some, and the machine may be busy. */
const openLimit = 30_000

const decodeWalls = Schema.decodeUnknownExit(Walls)

/** Reads one line, and leaves what follows it. Fails with what was wrong. */
export const readLine = (socket: Socket): Effect.Effect<string, string> =>
  Effect.callback((resume) => {
    let read = Buffer.alloc(0)
    const settle = (exit: Exit.Exit<string, string>): void => {
      socket.off("readable", take).off("close", lose).off("end", lose)
      resume(exit)
    }
    const lose = (): void => settle(Exit.fail("it ended without a word"))
    const take = (): void => {
      for (;;) {
        const chunk: unknown = socket.read()
        if (!(chunk instanceof Buffer)) break
        read = Buffer.concat([read, chunk])
      }
      const end = read.indexOf("\n")
      if (end === -1) {
        if (read.length > longestLine) settle(Exit.fail("it said too much"))
        return
      }
      socket.off("readable", take)
      if (end + 1 < read.length) socket.unshift(read.subarray(end + 1))
      settle(Exit.succeed(read.subarray(0, end).toString("utf8")))
    }
    socket.on("readable", take).once("close", lose).once("end", lose)
    return Effect.sync(() => socket.off("readable", take).off("close", lose).off("end", lose))
  })

const connectTo = (path: string): Effect.Effect<Socket, NoWalls, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Socket, NoWalls>((resume) => {
      const socket = connect({ path })
      const fail = (error: Error): void =>
        resume(Effect.fail({ step: "connect to the fork-server", reason: error.message }))
      socket.once("error", fail)
      socket.once("connect", () => {
        socket.off("error", fail)
        // Whoever reads is told by the end of what there is to read.
        socket.on("error", () => undefined)
        resume(Effect.succeed(socket))
      })
      return Effect.sync(() => socket.destroy())
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

const openOn = Effect.fnUntraced(function* (
  handle: ForkServerHandle,
  path: string,
  turn: Semaphore.Semaphore,
  opening: Opening
): Effect.fn.Return<OpenedSession, NoWalls, Scope.Scope> {
  const { token } = opening
  const wasKilled = Effect.sync(() => handle.wasKilled(token))
  const gone = Effect.callback<boolean>((resume) => handle.whenGone(token, () => resume(wasKilled)))
  const goneInTime = Effect.callback<boolean>((resume) => handle.expectGone(token, () => resume(wasKilled)))
  let isKnown = false
  yield* Effect.acquireRelease(
    Effect.sync(() => handle.track(token)),
    // A session that the fork-server never heard of does not end.
    () =>
      Effect.andThen(
        isKnown ? goneInTime : Effect.void,
        Effect.sync(() => handle.forget(token))
      )
  )
  const { channel, said } = yield* Effect.gen(function* () {
    const connected = yield* connectTo(path)
    // A line this short goes at once: from then on the fork-server tells of the session's end.
    isKnown = yield* Effect.uninterruptible(
      Effect.callback<boolean>((resume) => {
        connected.write(encodeRequest(opening), (error) => resume(Effect.succeed(!error)))
      })
    )
    const line = yield* within(readLine(connected), openLimit, () => Effect.fail("it did not answer in time")).pipe(
      Effect.mapError((reason) => ({ step: "open a session", reason }))
    )
    return { channel: connected, said: line }
  }).pipe(turn.withPermit)
  const walls = decodeWalls(said)
  if (Exit.isFailure(walls)) return yield* Effect.fail({ step: "open a session", reason: `it said ${said}` })
  if (!walls.value.walls) {
    const { reason, step } = walls.value
    return yield* Effect.fail({ step, reason })
  }
  return {
    channel,
    gone,
    goneInTime,
    memory: Effect.callback((resume) => handle.askMemory(token, (bytes) => resume(Effect.succeed(bytes))))
  }
})

/** Starts a fork-server that listens at `socket`. Fails with what it wrote to standard error. */
export const start = Effect.fnUntraced(function* (
  options: HandleOptions,
  socket: string
): Effect.fn.Return<ForkServer, string, Scope.Scope> {
  const handle = yield* Effect.acquireRelease(
    Effect.sync(() => new ForkServerHandle(options)),
    (started) => Effect.callback<void>((resume) => started.close(() => resume(Effect.void)))
  )
  const ready = yield* Effect.callback<Ready, string>((resume) => handle.whenReady(resume))
  const turn = yield* Semaphore.make(openedAtOnce)
  return {
    ...ready,
    isRunning: () => handle.isRunning,
    pid: handle.pid,
    open: (opening) => openOn(handle, socket, turn, opening)
  }
})
