/**
 * What becomes of a playbook's schedule when the playbook changes.
 *
 * Source: decisions.md §6 ("A deployed playbook with a cron fires once per due time").
 */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { Principal } from "../access/Principal.ts"
import { mandateOf } from "../schedule/Mandate.ts"
import { Schedule, setUp } from "../schedule/Schedule.ts"
import type { Playbook } from "./Playbook.ts"

/**
 * The schedule that a playbook has after somebody changed it; none unless it is deployed and has a cron expression.
 * Whoever made the change answers for what the playbook does from now on: it runs with their authority, not with that
 * of somebody who had deployed another prompt. A due time that is near does not move while the timing stays.
 */
export const scheduleOf = (
  playbook: Playbook,
  before: Option.Option<Schedule>,
  principal: Principal,
  now: DateTime.Utc
): Option.Option<Schedule> => {
  const { cron, timeZone } = playbook.configuration
  if (playbook.status._tag !== "Deployed" || cron === undefined) return Option.none()
  const mandate = mandateOf(principal)
  const same = Option.filter(before, (schedule) => schedule.cron === cron && schedule.timeZone === timeZone)
  return Option.isSome(same)
    ? Option.some(new Schedule({ ...same.value, mandate }))
    : setUp({ organizationId: playbook.organizationId, playbookId: playbook.id, mandate }, { cron, timeZone }, now)
}
