/**
 * The control channel of one session: commands go out one after another, reports are matched to the commands that are
 * open by id and nonce. Whatever fits none, and whatever breaks the protocol, ends the channel.
 */
import type { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { randomUUID, timingSafeEqual } from "node:crypto"
import { type Order, protocolVersion } from "../protocol/Command.ts"
import * as CommandFrame from "../protocol/CommandFrame.ts"
import { type Frame, FrameReader, ProtocolBreach } from "../protocol/FrameReader.ts"
import { Line } from "./Line.ts"
import type { SandboxProcess } from "./SandboxProcess.ts"
import { lost } from "./SessionFailure.ts"

/** What became of a report: the command goes on, it is over, or the report was not allowed there. */
export type Taken = "continues" | "over" | "breach"

/** Whoever waits for the reports of a command. */
export interface Recipient {
  /** Takes a report of the command. It must not block. */
  readonly take: (frame: Frame) => Taken
  /** The channel ended before the command did. */
  readonly lost: () => void
}

/** What a supervisor said of itself when it was ready. */
export type Greeting = Extract<Frame["report"], { readonly event: "ready" }>

/** Why a channel ended: the supervisor broke the protocol, or it is gone for a reason of its tier's. */
export type ChannelEnd = ProtocolBreach | SandboxError

/** The control channel to one supervisor. */
export interface CommandChannel {
  /** What the supervisor says first. Fails as `lost` where the channel ends before. */
  readonly ready: Effect.Effect<Greeting, SandboxError>
  /** Sends a command; answers its id. Nothing is sent where the channel has ended: then the recipient is told at once. */
  readonly send: (order: Order, payload: Uint8Array, recipient: Recipient) => number
  /** Sends the answer to a call, which no report answers; completes once it has gone out, or the channel has ended. */
  readonly answer: (
    id: number,
    order: Extract<Order, { readonly op: "answer" }>,
    payload: Uint8Array
  ) => Effect.Effect<void>
  /** Whether a command of that id was sent, and is not over. */
  readonly isOpen: (id: number) => boolean
  /** Completes once the channel has ended, with the reason. */
  readonly ended: Effect.Effect<ChannelEnd>
}

/** A nonce that cannot be guessed: 32 hexadecimal digits, made of randomness that Node has in store: each command has one. */
export const nonce = (): string => randomUUID().replaceAll("-", "")

const same = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** What goes out next, and who is told when it has. */
interface Outgoing {
  readonly bytes: Uint8Array
  readonly sent?: () => void
}

interface Open {
  readonly nonce: string
  readonly recipient: Recipient
}

/** Ids of all channels of a session differ, so that what answers one is never taken for an answer to another. */
export class CommandIds {
  #last = 0

  /** The next id. */
  next(): number {
    this.#last += 1
    return this.#last
  }
}

/** Opens the channel to a supervisor that was launched with a nonce; it ends with its scope. */
export const open: (
  process: SandboxProcess,
  launchNonce: string,
  ids: CommandIds
) => Effect.Effect<CommandChannel, never, Scope.Scope> = Effect.fnUntraced(function* (process, launchNonce, ids) {
  const commands = new Map<number, Open>()
  const ready = yield* Deferred.make<Greeting, SandboxError>()
  const ended = yield* Deferred.make<ChannelEnd>()
  const outgoing = new Line<Outgoing>()
  const reader = new FrameReader()
  let isReady = false
  let isOver = false

  /** Takes one frame; why it is a breach, where it is one. */
  const take = (frame: Frame): string | undefined => {
    const { report } = frame
    if (report.event === "ready") {
      if (isReady || !same(report.nonce, launchNonce)) return "a greeting that nobody waits for"
      if (report.protocol !== protocolVersion) return `a supervisor that speaks version ${report.protocol}`
      isReady = true
      Deferred.doneUnsafe(ready, Effect.succeed(report))
      return undefined
    }
    const command = commands.get(report.id)
    if (command === undefined || !same(report.nonce, command.nonce)) return "an answer to a command that is not open"
    const taken = command.recipient.take(frame)
    if (taken === "over") commands.delete(report.id)
    return taken === "breach" ? `a report ${report.event} where it cannot be` : undefined
  }

  const over = (reason: ChannelEnd) =>
    Effect.sync(() => {
      if (isOver) return
      isOver = true
      Deferred.doneUnsafe(ready, Effect.fail(lost))
      for (const { recipient } of commands.values()) recipient.lost()
      commands.clear()
      Deferred.doneUnsafe(ended, Effect.succeed(reason))
    })

  const read = process.output.pipe(
    Stream.runForEach((chunk) =>
      Effect.suspend(() => {
        const frames = reader.push(chunk)
        if (Result.isFailure(frames)) return Effect.fail(frames.failure)
        for (const frame of frames.success) {
          const detail = take(frame)
          if (detail !== undefined) return Effect.fail(new ProtocolBreach({ detail }))
        }
        return Effect.void
      })
    ),
    Effect.matchEffect({ onSuccess: () => over(lost), onFailure: over })
  )
  const writeNext = outgoing.take.pipe(
    Effect.flatMap(({ bytes, sent }) =>
      sent === undefined ? process.send(bytes) : Effect.tap(process.send(bytes), () => Effect.sync(sent))
    )
  )
  const write = Effect.catchTag(Effect.forever(writeNext, { disableYield: true }), "SandboxError", over)
  yield* Effect.addFinalizer(() => over(lost))
  yield* Effect.forkScoped(read, { startImmediately: true })
  yield* Effect.forkScoped(write, { startImmediately: true })

  const post = (id: number, commandNonce: string, order: Order, payload: Uint8Array, sent?: () => void): void => {
    const parts = CommandFrame.encode({ id, nonce: commandNonce, order, payload })
    // All of a frame at once: no other can come between its line and its payload.
    outgoing.add(
      parts.map((bytes, index) => (sent !== undefined && index === parts.length - 1 ? { bytes, sent } : { bytes }))
    )
  }

  return {
    ready: Deferred.await(ready),
    send: (order, payload, recipient) => {
      const id = ids.next()
      if (isOver) {
        recipient.lost()
        return id
      }
      const commandNonce = nonce()
      commands.set(id, { nonce: commandNonce, recipient })
      post(id, commandNonce, order, payload)
      return id
    },
    answer: (id, order, payload) =>
      Effect.suspend(() => {
        const command = commands.get(id)
        if (command === undefined) return Effect.void
        const sent = Deferred.makeUnsafe<void>()
        post(id, command.nonce, order, payload, () => Deferred.doneUnsafe(sent, Effect.void))
        return Effect.raceFirst(Deferred.await(sent), Effect.asVoid(Deferred.await(ended)))
      }),
    isOpen: (id) => commands.has(id),
    ended: Deferred.await(ended)
  }
})
