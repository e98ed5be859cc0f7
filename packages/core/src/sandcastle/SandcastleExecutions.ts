/**
 * What runs in sandcastles: programs, commands, and queries whose results become dataframes. Each is recorded in full
 * before it runs, and its end is recorded whatever becomes of it.
 *
 * Source: decisions.md §7 ("`POST …/{id}/execute`", "`POST …/{id}/exec`", "`POST …/{id}/query`"); api-v2.md "Execution".
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { CurrentPrincipal, type Principal } from "../access/Principal.ts"
import { UseCase } from "../audit/UseCase.ts"
import { InvalidRequest } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import {
  Execution,
  ExecutionId,
  type ExecutionKind,
  type ExecutionSource,
  ExecutionStatus,
  interruption
} from "./Execution.ts"
import * as ExecutionOutput from "./ExecutionOutput.ts"
import { end, ExecutionEvent } from "./ExecutionState.ts"
import { ExecutionStore } from "./ExecutionStore.ts"
import * as ProducedFiles from "./ProducedFiles.ts"
import { type Dataframe, type ExecEvent, type ExecRequest, type SandboxSession } from "./SandboxRuntime.ts"
import type { SandcastleId } from "./Sandcastle.ts"
import { SandcastleLimits } from "./SandcastleLimits.ts"
import * as SessionUse from "./SessionUse.ts"

/** What came of a program in the session's Python. A program that failed is an answer, with its error. */
export interface ExecuteAnswer {
  readonly executionId: ExecutionId
  /** What it put out, in order. */
  readonly output: ReadonlyArray<string>
  readonly error?: string
  readonly took: Duration.Duration
  readonly files: ReadonlyArray<ProducedFiles.ProducedFile>
  readonly dataframes: ReadonlyArray<Dataframe>
  /** Whether the session's Python had to be started anew: its variables are gone. */
  readonly stateLost: boolean
}

/** What came of a fresh process. */
export interface ExecAnswer {
  readonly executionId: ExecutionId
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly error?: string
}

/** How whoever asks for an execution follows it. */
export interface Following {
  /** Wall-clock time, where it is to be shorter than that of every execution. */
  readonly timeout?: Duration.Duration
  /** Is told what happens as it happens, whatever becomes of the execution, which waits for it meanwhile. */
  readonly observe?: (event: ExecEvent) => Effect.Effect<void>
}

/** Whether a process can be given these variables: a name that the shell takes for one, a value that ends nowhere. */
const checkEnvironment = (environment: Readonly<Record<string, string>> = {}): Effect.Effect<void, InvalidRequest> => {
  const wrong = Object.entries(environment).find(
    ([name, value]) => !/^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name) || value.includes("\0")
  )
  return wrong === undefined
    ? Effect.void
    : Effect.fail(
        new InvalidRequest({
          message: "env: names must be letters, digits and underscores, not begin with a digit, and values have no NUL"
        })
      )
}

/** What is to be recorded of something that runs. */
export interface Recorded {
  readonly kind: ExecutionKind
  readonly source: ExecutionSource
  readonly input: string
}

/** How something that ran ended, for its record. */
export interface Ending {
  readonly event: ExecutionEvent
  readonly output: string
}

/** Runs things in sandcastles and records them. */
export const make = Effect.gen(function* () {
  const sessions = yield* SessionUse.make
  const store = yield* ExecutionStore
  const useCase = yield* UseCase
  const limits = yield* SandcastleLimits
  const random = yield* SecureRandom.SecureRandom
  const nextId = Effect.map(Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random), (id) =>
    ExecutionId.make(id)
  )

  /**
   * Keeps the end of an execution; whoever asked for it may have left. The first end stays: where this server was taken
   * for gone and another has ended what it ran, whoever has read that never reads otherwise. The caller is answered what
   * came of it all the same.
   */
  const keepEnd = Effect.fnUntraced(function* (principal: Principal, execution: Execution, ending: Ending) {
    const now = yield* DateTime.now
    const isKept = yield* useCase
      .run({ action: "execute", target: { type: "execution", id: execution.id } }, () =>
        Result.match(end(execution, ending.event, now, ending.output), {
          // An execution that has its end keeps it.
          onFailure: () => Effect.succeed({ answer: true, entries: [] }),
          onSuccess: (ended) => Effect.map(store.end(ended), (isFirst) => ({ answer: isFirst, entries: [] }))
        })
      )
      .pipe(Effect.provideService(CurrentPrincipal, principal))
    if (!isKept) {
      yield* Effect.logWarning(
        `execution ${execution.id} ended (${ending.event._tag}) after another server had recorded an end of it, which stays`
      )
    }
  })

  /**
   * Runs something in a session. `work` says how it ended as soon as it knows, so that it is recorded also when what
   * comes after it fails. What `permit` denies is not run at all.
   */
  const recorded = <A, E, R>(
    id: SandcastleId,
    what: Recorded,
    work: (
      session: SandboxSession,
      execution: Execution,
      ended: (ending: Ending) => Effect.Effect<void>,
      principal: Principal
    ) => Effect.Effect<A, E, R>,
    permit?: SessionUse.How["permit"]
  ): Effect.Effect<A, SessionUse.Told<E>, R | CurrentPrincipal> =>
    Effect.gen(function* () {
      const begun = yield* Ref.make(Option.none<Execution>())
      const how: SessionUse.How = {
        action: "execute",
        needs: "execute",
        ...(permit === undefined ? {} : { permit }),
        record: Effect.fnUntraced(function* (principal) {
          const execution = new Execution({
            id: yield* nextId,
            organizationId: principal.organizationId,
            sandcastleId: id,
            ...what,
            outputPreview: "",
            status: ExecutionStatus.cases.Running.make({}),
            createdAt: yield* DateTime.now
          })
          yield* store.save(execution)
          yield* Ref.set(begun, Option.some(execution))
          return [
            {
              action: "execute",
              target: { type: "execution", id: execution.id },
              after: { sandcastle: id, kind: what.kind, source: what.source }
            }
          ]
        })
      }
      const principal = yield* CurrentPrincipal
      const told = yield* Ref.make(Option.none<Ending>())
      const ended = (ending: Ending) => Ref.set(told, Option.some(ending))
      /** What is recorded where `work` did not say how it ended. */
      const endingOf = (exit: Exit.Exit<unknown, unknown>): Ending => {
        if (Exit.isSuccess(exit)) return { event: ExecutionEvent.cases.Complete.make({}), output: "" }
        if (Cause.hasInterruptsOnly(exit.cause)) return { event: ExecutionEvent.cases.Interrupt.make({}), output: "" }
        const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
        const message = error instanceof Error ? error.message : "internal error"
        return { event: ExecutionEvent.cases.Fail.make({ error: message }), output: "" }
      }
      return yield* sessions
        .use(id, how, (session) =>
          Effect.flatMap(Ref.get(begun), (execution) =>
            Option.isNone(execution)
              ? Effect.die(new Error("an execution runs that was not recorded"))
              : work(session, execution.value, ended, principal)
          )
        )
        .pipe(
          Effect.onExit(
            Effect.fnUntraced(function* (exit) {
              const execution = yield* Ref.get(begun)
              if (Option.isNone(execution)) return
              const ending = Option.getOrElse(yield* Ref.get(told), () => endingOf(exit))
              yield* keepEnd(principal, execution.value, ending)
            })
          )
        )
    })

  /** Follows an execution to its end, and says how it ended also when it is stopped on the way. */
  const follow = Effect.fnUntraced(function* (
    session: SandboxSession,
    request: Omit<ExecRequest, "timeout">,
    following: Following,
    ended: (ending: Ending) => Effect.Effect<void>
  ) {
    const timeout = Duration.min(limits.executionTimeout, following.timeout ?? limits.executionTimeout)
    const output = yield* Ref.make(ExecutionOutput.nothing)
    yield* session.exec({ ...request, timeout }).pipe(
      Stream.runForEach((event) =>
        Effect.andThen(
          Ref.update(output, (before) => ExecutionOutput.add(before, event, limits.outputBytes)),
          following.observe?.(event) ?? Effect.void
        )
      ),
      // A runtime that does not keep its own limit is held to it: interrupting it stops the execution.
      Effect.timeoutOption(Duration.sum(timeout, Duration.seconds(30))),
      Effect.onExit(
        Effect.fnUntraced(function* (exit) {
          const all = yield* Ref.get(output)
          const stopped = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
          const failed =
            Exit.isFailure(exit) && !stopped ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
          const event = stopped
            ? ExecutionEvent.cases.Interrupt.make({ stateLost: all.stateLost })
            : failed === undefined
              ? ExecutionOutput.endingOf(all)
              : ExecutionEvent.cases.Fail.make({ error: failed.message })
          yield* ended({ event, output: ExecutionOutput.textOf(all) })
        })
      )
    )
    return yield* Ref.get(output)
  })

  const errorOf = (event: ExecutionEvent): { readonly error?: string } => {
    switch (event._tag) {
      case "Complete":
        return {}
      case "Fail":
        return { error: event.error }
      case "Interrupt":
        return { error: interruption(event.stateLost) }
    }
  }

  return {
    recorded,

    /** Runs a program in the session's Python, whose variables stay. */
    execute: Effect.fn("Sandcastles.execute")(function* (
      id: SandcastleId,
      request: { readonly code: string; readonly source: ExecutionSource } & Following
    ) {
      const began = yield* DateTime.now
      return yield* recorded(
        id,
        { kind: "python", source: request.source, input: request.code },
        Effect.fnUntraced(function* (session, execution, ended) {
          const output = yield* follow(
            session,
            { language: "python", code: request.code, within: "session" },
            request,
            ended
          )
          const displayed = yield* ProducedFiles.keepDisplayed(session, execution, output)
          const answer: ExecuteAnswer = {
            executionId: execution.id,
            output: [...output.pieces.map(({ text }) => text), ...displayed.missing],
            ...errorOf(ExecutionOutput.endingOf(output)),
            took: DateTime.distance(began, yield* DateTime.now),
            files: [...displayed.files, ...ProducedFiles.madeBy(output)],
            dataframes: ExecutionOutput.dataframesOf(output),
            stateLost: output.stateLost
          }
          return answer
        })
      )
    }),

    /** Runs a command or a program in a fresh process. */
    exec: Effect.fn("Sandcastles.exec")(function* (
      id: SandcastleId,
      request: {
        readonly command: string
        readonly kind: "bash" | "python"
        readonly environment?: Readonly<Record<string, string>>
        readonly source: ExecutionSource
      } & Following
    ) {
      yield* checkEnvironment(request.environment)
      return yield* recorded(
        id,
        { kind: request.kind, source: request.source, input: request.command },
        Effect.fnUntraced(function* (session, execution, ended) {
          const output = yield* follow(
            session,
            {
              language: request.kind,
              code: request.command,
              within: "process",
              ...(request.environment === undefined ? {} : { environment: request.environment })
            },
            request,
            ended
          )
          const event = ExecutionOutput.endingOf(output)
          const answer: ExecAnswer = {
            executionId: execution.id,
            stdout: ExecutionOutput.textOf(output, "stdout"),
            stderr: ExecutionOutput.textOf(output, "stderr"),
            exitCode: output.finished?.exitCode ?? -1,
            // A command that ends with another code than 0 has not failed: it says so by its code.
            ...(output.finished?.outcome === "failed" && output.error === undefined ? {} : errorOf(event))
          }
          return answer
        })
      )
    }),

    /** Stops what runs in the session; false when nothing does. */
    interrupt: Effect.fn("Sandcastles.interrupt")(function* (id: SandcastleId) {
      return yield* sessions.use(
        id,
        {
          action: "interrupt",
          needs: "execute",
          record: () => Effect.succeed([{ action: "interrupt", target: SessionUse.target(id) }])
        },
        (session) => session.interrupt
      )
    })
  }
})
