/**
 * A session's connection to its sandbox, over as many supervisors as it takes: commands that are asked and answered, a
 * supervisor that is replaced when it ends or does not answer, and the end of the session when it cannot be.
 */
import type { SandboxError, SandboxSpec } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Order } from "../protocol/Command.ts"
import type { Frame } from "../protocol/FrameReader.ts"
import type { ReportedEntry, Report } from "../protocol/Report.ts"
import * as CommandChannel from "./CommandChannel.ts"
import { Pieces } from "./Joined.ts"
import type { SandboxProcess, SandboxTier } from "./SandboxProcess.ts"
import { failure, lost, refused } from "./SessionFailure.ts"
import { SessionLimits } from "./SessionLimits.ts"

/** The end of a command, and what came before it. */
export interface Answer {
  readonly done: Extract<Report, { readonly event: "done" }>
  readonly data: ReadonlyArray<Uint8Array>
  readonly entries: ReadonlyArray<typeof ReportedEntry.Type>
}

/** Bounds of an answer; what is beyond fails as `exhausted`. */
export interface AnswerBounds {
  readonly bytes?: number
  readonly entries?: number
  /** Whether the interpreter has to answer, which may be stuck where the supervisor is not. */
  readonly interpreter?: boolean
}

/** Whoever waits for the reports of a command, and hears what became of the session where none come any more. */
export interface Patient {
  readonly take: CommandChannel.Recipient["take"]
  /** The supervisor is gone: another is there instead, or the session is over, for a reason. */
  readonly orphaned: (over: SandboxError | undefined) => void
}

/** A session's connection. */
export interface SessionLink {
  readonly capabilities: SandboxTier["capabilities"]
  /** Whether the sandbox served the session before, with its variables and files. */
  readonly resumed: boolean
  /** Fails as `lost` once the session is over, with the reason in words. */
  readonly check: Effect.Effect<void, SandboxError>
  /** Sends a command; answers its id. */
  readonly send: (order: Order, payload: Uint8Array, patient: Patient) => number
  /** Sends the answer to a call of an execution. */
  readonly answer: CommandChannel.CommandChannel["answer"]
  /** Whether the supervisor has still to end a command of that id. */
  readonly isOpen: CommandChannel.CommandChannel["isOpen"]
  /** Sends a command and waits for its end. Fails with what the supervisor refuses, as `lost` or as `exhausted`. */
  readonly ask: (order: Order, payload?: Uint8Array, bounds?: AnswerBounds) => Effect.Effect<Answer, SandboxError>
  /** Puts other processes in the place of those that do not answer, or ends the session. */
  readonly replace: Effect.Effect<void>
  /** Bytes of memory as the tier counts them. */
  readonly memoryBytes: Effect.Effect<number | undefined>
}

/** One supervisor. */
interface Connection {
  readonly process: SandboxProcess
  readonly channel: CommandChannel.CommandChannel
  readonly scope: Scope.Closeable
}

const nothing = new Uint8Array(0)

/** The end of a session as its user is told it, whatever its tier calls it. */
const asLost = (error: SandboxError): SandboxError => (error.reason === "lost" ? error : failure("lost", error.message))

/** Takes the frames of a command that is asked, within its bounds. */
const gathering = (bounds: AnswerBounds, settle: (exit: Effect.Effect<Answer, SandboxError>) => void): Patient => {
  const data = new Pieces()
  const entries: Array<typeof ReportedEntry.Type> = []
  let bytes = 0
  let exceeded: SandboxError | undefined
  return {
    orphaned: (over) => settle(Effect.fail(over ?? failure("exhausted", "the sandbox had to be started anew"))),
    take: ({ payload, report }: Frame) => {
      switch (report.event) {
        case "data": {
          bytes += payload.length
          if (bytes > (bounds.bytes ?? 0)) {
            exceeded ??= failure("exhausted", `it is larger than the ${bounds.bytes ?? 0} bytes that are handed out`)
            data.take()
          } else data.push(payload)
          return "continues"
        }
        case "entries": {
          if (entries.length + report.entries.length > (bounds.entries ?? 0)) {
            exceeded ??= failure("exhausted", "there are too many files")
            entries.length = 0
          } else entries.push(...report.entries)
          return "continues"
        }
        case "done":
          settle(
            exceeded === undefined
              ? Effect.succeed({ done: report, data: data.take(), entries })
              : Effect.fail(exceeded)
          )
          return "over"
        case "failed":
          settle(Effect.fail(refused(report)))
          return "over"
        default:
          return "breach"
      }
    }
  }
}

/** Launches a session and connects to it. It ends with its scope. */
export const open: (tier: SandboxTier, spec: SandboxSpec) => Effect.Effect<SessionLink, SandboxError, Scope.Scope> =
  Effect.fnUntraced(function* (tier, spec) {
    const limits = yield* SessionLimits
    const scope = yield* Scope.Scope
    const ids = new CommandChannel.CommandIds()
    const launchNonce = CommandChannel.nonce()
    const processes = yield* Scope.fork(scope)
    const replacing = yield* Semaphore.make(1)
    const orphans: Array<Patient> = []
    /** Why the session is over, once it is. */
    let over: SandboxError | undefined

    /** Connects to a supervisor and waits until it is ready. */
    const connect = Effect.fnUntraced(function* (process: SandboxProcess) {
      const within = yield* Scope.fork(processes)
      const channel = yield* Scope.provide(CommandChannel.open(process, launchNonce, ids), within)
      yield* channel.ready.pipe(
        Effect.timeoutOrElse({
          duration: limits.start,
          orElse: () => Effect.fail(failure("unavailable", "the sandbox did not become ready in time"))
        }),
        Effect.onError(() => Scope.close(within, Exit.void))
      )
      const connection: Connection = { process, channel, scope: within }
      return connection
    })

    const settle = (): void => {
      for (const patient of orphans.splice(0)) patient.orphaned(over)
    }

    const end = (why: SandboxError): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (over !== undefined) return Effect.void
        over = why
        return Effect.andThen(Scope.close(processes, Exit.void), Effect.sync(settle))
      })

    const launched = yield* tier.launch(spec, launchNonce).pipe(
      Scope.provide(processes),
      Effect.flatMap(connect),
      Effect.catchTag("SandboxError", (error) =>
        // Nobody has had this session: it was not lost, it never was.
        Effect.fail(error.reason === "lost" ? failure("unavailable", "the sandbox ended before it was ready") : error)
      ),
      Effect.onError(() => end(lost))
    )
    let current: Connection = launched

    /**
     * Another supervisor for one that is of no use any more; the end of the session where there can be none. `why` is
     * what became of the former, where that is known: it tells more than why there is no other.
     */
    const replace = (of: Connection, why?: SandboxError): Effect.Effect<void> =>
      Effect.gen(function* () {
        if (over !== undefined || of !== current) return
        yield* Scope.close(of.scope, Exit.void)
        const next = yield* of.process.replaceInterpreter.pipe(
          Effect.timeoutOrElse({ duration: limits.start, orElse: () => Effect.fail(lost) }),
          Effect.flatMap(connect),
          Effect.exit
        )
        if (Exit.isFailure(next)) {
          const refusal = Option.getOrElse(Exit.findErrorOption(next), () => lost)
          return yield* end(why ?? asLost(refusal))
        }
        current = next.value
        yield* watch(next.value)
        settle()
      }).pipe(replacing.withPermits(1), Effect.uninterruptible)

    const ended = (connection: Connection, reason: CommandChannel.ChannelEnd) =>
      reason._tag === "SandboxError"
        ? replace(connection, asLost(reason))
        : Effect.andThen(
            Effect.logWarning("a sandbox is ended", { sandcastle: spec.id, reason: reason.message }),
            end(lost)
          )

    const watch = (connection: Connection): Effect.Effect<void> =>
      connection.channel.ended.pipe(
        Effect.flatMap((reason) => (connection === current ? ended(connection, reason) : Effect.void)),
        Effect.forkIn(scope, { startImmediately: true }),
        Effect.asVoid
      )

    yield* Scope.addFinalizer(scope, end(lost))
    yield* watch(launched)

    const send: SessionLink["send"] = (order, payload, patient) =>
      current.channel.send(order, payload, {
        take: patient.take,
        lost: () => {
          if (over === undefined) orphans.push(patient)
          else patient.orphaned(over)
        }
      })

    /** What becomes of a command that takes too long: first the interpreter goes, then the supervisor. */
    const hurry = Effect.fnUntraced(function* (answer: Deferred.Deferred<Answer, SandboxError>, interpreter: boolean) {
      const of = current
      if (interpreter) {
        send({ op: "restart" }, nothing, ignored)
        yield* Effect.timeoutOption(Effect.exit(Deferred.await(answer)), limits.patience)
      }
      if (!Deferred.isDoneUnsafe(answer)) yield* replace(of)
      return yield* failure("exhausted", `it took longer than ${Duration.format(limits.command)}`)
    })

    const check = Effect.suspend(() => (over === undefined ? Effect.void : Effect.fail(over)))

    return {
      capabilities: tier.capabilities,
      resumed: launched.process.resumed === true,
      check,
      send,
      answer: (id, order, payload) => Effect.suspend(() => current.channel.answer(id, order, payload)),
      isOpen: (id) => current.channel.isOpen(id),
      ask: (order, payload = nothing, bounds = {}) =>
        Effect.suspend(() => {
          if (over !== undefined) return Effect.fail(over)
          const answer = Deferred.makeUnsafe<Answer, SandboxError>()
          send(
            order,
            payload,
            gathering(bounds, (exit) => void Deferred.doneUnsafe(answer, exit))
          )
          return Deferred.await(answer).pipe(
            Effect.timeoutOrElse({
              duration: limits.command,
              orElse: () => hurry(answer, bounds.interpreter === true)
            })
          )
        }),
      replace: Effect.suspend(() => replace(current)),
      memoryBytes: Effect.suspend(() => current.process.memoryBytes)
    }
  })

/** For a command whose answer changes nothing. */
export const ignored: Patient = {
  orphaned: () => {},
  take: ({ report }) => (report.event === "done" || report.event === "failed" ? "over" : "breach")
}
