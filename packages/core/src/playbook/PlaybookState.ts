/**
 * The life of a playbook: a draft is deployed and undeployed as often as anybody likes; a deleted one never changes
 * again. Every pair of state and event has an answer; an illegal one is a refusal that says the state.
 *
 * Source: api-v2.md "States and transitions" (a playbook can be deployed in any state); decisions.md §6.
 */
import type * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { PlaybookStatus } from "./Playbook.ts"

/** What can happen to a playbook. */
export const PlaybookEvent = Schema.Literals(["Configure", "Deploy", "Undeploy", "Delete"])
export type PlaybookEvent = typeof PlaybookEvent.Type

/** The playbook's state does not allow this. */
export class PlaybookRefusal extends Schema.TaggedError<PlaybookRefusal>()("PlaybookRefusal", {
  state: Schema.Literals(["Draft", "Deployed", "Deleted"]),
  event: PlaybookEvent
}) {
  override get message(): string {
    return `cannot ${this.event.toLowerCase()} a playbook that is ${this.state === "Draft" ? "a draft" : this.state.toLowerCase()}`
  }
}

/** The status after an event at a moment. */
export const transition = (
  status: PlaybookStatus,
  event: PlaybookEvent,
  at: DateTime.Utc
): Result.Result<PlaybookStatus, PlaybookRefusal> => {
  const refused = () => Result.fail(new PlaybookRefusal({ state: status._tag, event }))
  if (status._tag === "Deleted") return refused()
  switch (event) {
    case "Configure":
      return Result.succeed(status)
    case "Deploy":
      // Deployed anew: whoever does it stands for it from now on, and its due times count from now.
      return Result.succeed(PlaybookStatus.cases.Deployed.make({ deployedAt: at }))
    case "Undeploy":
      return status._tag === "Deployed" ? Result.succeed(PlaybookStatus.cases.Draft.make({})) : refused()
    case "Delete":
      return Result.succeed(PlaybookStatus.cases.Deleted.make({ deletedAt: at }))
  }
}
