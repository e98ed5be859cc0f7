/**
 * A schedule: when a deployed playbook runs next, and on whose behalf. There is one exactly as long as the playbook is
 * deployed and has a cron expression.
 *
 * Source: decisions.md §6 ("A deployed playbook with a cron fires once per due time across all servers; a due time
 * missed while all were down fires once on return").
 */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { CronText, nextDue, TimeZoneName, type Timing } from "./Cron.ts"
import { Mandate } from "./Mandate.ts"

/** When a deployed playbook runs next. */
export class Schedule extends Schema.Class<Schedule>("@castellan/core/schedule/Schedule")({
  organizationId: OrganizationId,
  playbookId: Uuid.pipe(Schema.brand("PlaybookId")),
  cron: CronText,
  timeZone: TimeZoneName,
  /** The authority of whoever last deployed or changed the playbook: they answer for what it does now. */
  mandate: Mandate,
  nextDueAt: Schema.DateTimeUtc
}) {}

/** Whose schedule it is, and for whom it fires. */
export interface ScheduleOwner extends Pick<Schedule, "organizationId" | "playbookId" | "mandate"> {}

/** The schedule that is set up at a moment; none where the expression does not come due any more. */
export const setUp = (owner: ScheduleOwner, timing: Timing, now: DateTime.Utc): Option.Option<Schedule> =>
  Option.map(
    nextDue(timing, now),
    (nextDueAt) =>
      new Schedule({
        organizationId: owner.organizationId,
        playbookId: owner.playbookId,
        mandate: owner.mandate,
        cron: timing.cron,
        timeZone: timing.timeZone,
        nextDueAt
      })
  )

/**
 * The schedule after it has fired at a moment: its next due time lies after that moment, so that due times that were
 * missed meanwhile do not fire as well.
 */
export const fired = (schedule: Schedule, now: DateTime.Utc): Option.Option<Schedule> => setUp(schedule, schedule, now)
