/**
 * The life of a sandcastle: running; stale when it was idle too long, running again when it is used in time; unknown
 * when its session does not answer, running again when it does; stopped in the end. It can always be started again.
 *
 * Every pair of state and event has an answer; an illegal one is a refusal that says the state.
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { SandcastleStatus, StopCause } from "./Sandcastle.ts"

/** What can happen to a sandcastle. */
export const SandcastleEvent = Schema.TaggedUnion({
  /** Somebody uses its session, which answers. */
  Use: {},
  /** It has been idle for the whole limit. */
  Expire: {},
  /** Its session does not answer. */
  Lose: {},
  /** Its session answers again. */
  Find: {},
  /** Its session was closed. */
  Stop: { cause: StopCause },
  /** A new session was opened in its place. */
  Restart: {}
})
export type SandcastleEvent = typeof SandcastleEvent.Type

/** The sandcastle's state does not allow this. */
export class SandcastleRefusal extends Schema.TaggedError<SandcastleRefusal>()("SandcastleRefusal", {
  state: Schema.Literals(["Running", "Stale", "Unknown", "Stopped"]),
  event: Schema.Literals(["Use", "Expire", "Lose", "Find", "Stop", "Restart"])
}) {
  override get message(): string {
    return `cannot ${this.event.toLowerCase()} a sandcastle that is ${this.state.toLowerCase()}`
  }
}

/** The status after an event at a moment. */
export const transition = (
  status: SandcastleStatus,
  event: SandcastleEvent,
  at: DateTime.Utc
): Result.Result<SandcastleStatus, SandcastleRefusal> => {
  const { Running, Stale, Stopped, Unknown } = SandcastleStatus.cases
  const refuse = (): Result.Result<SandcastleStatus, SandcastleRefusal> =>
    Result.fail(new SandcastleRefusal({ state: status._tag, event: event._tag }))
  // Whether there is a new session does not depend on what became of the old one.
  if (event._tag === "Restart") return Result.succeed(Running.make({ startedAt: at, lastUsedAt: at }))
  if (status._tag === "Stopped") return refuse()
  const { lastUsedAt, startedAt } = status
  switch (event._tag) {
    case "Use":
      return status._tag === "Unknown" ? refuse() : Result.succeed(Running.make({ startedAt, lastUsedAt: at }))
    case "Expire":
      return status._tag === "Running" ? Result.succeed(Stale.make({ startedAt, lastUsedAt })) : refuse()
    case "Lose":
      return status._tag === "Unknown" ? refuse() : Result.succeed(Unknown.make({ startedAt, lastUsedAt }))
    case "Find":
      return status._tag === "Unknown" ? Result.succeed(Running.make({ startedAt, lastUsedAt })) : refuse()
    case "Stop":
      return Result.succeed(Stopped.make({ startedAt, releasedAt: at, cause: event.cause }))
  }
}
