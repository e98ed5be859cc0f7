/**
 * The control channel of a session at E2B: a terminal in raw mode that is joined to the session's relay.
 *
 * E2B's client passes a command's output on as text, all of which it keeps. What comes out of a terminal it passes on
 * as bytes, keeps nothing of it, and waits until they are taken: so a terminal it is.
 */
import type { Sandbox } from "@e2b/code-interpreter"
import type { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import type { Settings } from "./E2bOptions.ts"
import { call, ProviderFailure, whileOpen } from "./RemoteProvider.ts"

/** An attachment to a session. */
export interface E2bChannel {
  /** Whether the session's variables are those of before. */
  readonly resumed: boolean
  readonly send: (bytes: Uint8Array) => Effect.Effect<void, SandboxError>
  readonly output: Stream.Stream<Uint8Array, SandboxError>
}

/** Bytes that are sent at once: a request each, written in base64. */
const piece = 256 * 1024

/** What a shell may say before the relay speaks. */
const longestGreeting = 64 * 1024

const broken = new ProviderFailure({ reason: "gone", detail: "channel: it ended" })

/** Attaches to the relay that listens at `socket` in the sandbox. Nothing of the session ends with the scope. */
export const attach = Effect.fnUntraced(function* (
  sandbox: Sandbox,
  settings: Settings,
  program: string,
  socket: string
): Effect.fn.Return<E2bChannel, ProviderFailure, Scope.Scope> {
  const queue = yield* Effect.acquireRelease(Queue.bounded<Uint8Array, ProviderFailure>(16), Queue.shutdown)
  const deliver = Effect.runPromiseWith(yield* Effect.context())
  const terminal = yield* Effect.acquireRelease(
    call("terminal", settings.callTimeout, (signal) =>
      sandbox.pty.create({
        cols: 80,
        rows: 24,
        cwd: "/",
        // The channel lives as long as the session.
        timeoutMs: 0,
        signal,
        onData: (data) => deliver(Effect.asVoid(Queue.offer(queue, data)))
      })
    ),
    (handle) => Effect.promise(() => handle.disconnect())
  )
  yield* Effect.promise(() =>
    terminal.wait().then(
      () => undefined,
      () => undefined
    )
  ).pipe(Effect.andThen(Queue.fail(queue, broken)), Effect.forkScoped)

  const write = (bytes: Uint8Array) =>
    call("send", settings.callTimeout, (signal) => sandbox.pty.sendInput(terminal.pid, bytes, { signal }))

  const [one, other] = [randomBytes(8).toString("hex"), randomBytes(8).toString("hex")]
  yield* write(Buffer.from(`exec ${program} ${socket} ${one} ${other}\n`))
  const answered = yield* answerOf(queue, `${one}${other} `).pipe(
    Effect.timeoutOrElse({
      duration: settings.callTimeout,
      orElse: () => Effect.fail(new ProviderFailure({ reason: "silent", detail: "attach: the relay does not answer" }))
    })
  )

  const turn = yield* Semaphore.make(1)
  return {
    resumed: answered.word === "resumed",
    send: (bytes) =>
      turn.withPermit(
        whileOpen(
          Effect.forEach(
            Array.from({ length: Math.ceil(bytes.length / piece) }, (_, index) => index * piece),
            (start) => write(bytes.subarray(start, start + piece)),
            { discard: true }
          )
        )
      ),
    output: Stream.fromQueue(queue).pipe(
      (rest) => (answered.rest.length === 0 ? rest : Stream.concat(Stream.make(answered.rest), rest)),
      Stream.catch((failure) => Stream.fromEffect(whileOpen(Effect.fail(failure))))
    )
  }
})

/** Reads until the token has come and the line that it begins is whole: its word, and what came after it. */
const answerOf = Effect.fnUntraced(function* (
  queue: Queue.Dequeue<Uint8Array, ProviderFailure>,
  token: string
): Effect.fn.Return<{ readonly word: string; readonly rest: Uint8Array }, ProviderFailure> {
  let read = Buffer.alloc(0)
  while (read.length < longestGreeting) {
    read = Buffer.concat([read, yield* Queue.take(queue)])
    const start = read.indexOf(token)
    const end = start === -1 ? -1 : read.indexOf("\n", start)
    if (end !== -1) {
      return { word: read.toString("latin1", start + token.length, end).trim(), rest: read.subarray(end + 1) }
    }
  }
  return yield* new ProviderFailure({ reason: "other", detail: "attach: the relay did not speak" })
})
