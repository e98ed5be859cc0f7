/**
 * Who carries a run. A runner takes a run up, keeps saying that it is there, and is the only one that may write the run
 * meanwhile. One that has not been heard of for too long has lost the run: another takes it up, and whatever the first
 * one still writes is refused, however late it wakes up.
 *
 * What is compared is the epoch, which grows each time a run is taken up. So clocks that differ between servers can cost
 * a run, where they differ by more than a lease lasts, but never have it written by two.
 *
 * Source: issue "Everything kept", §3 ("Faults"); architecture.md §4 ("many servers").
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import { greaterUsage, type Run, type RunUsage } from "./Run.ts"

/** A runner's id. Each has a new one: a process that is started again is another runner. */
export const RunnerId = Uuid.pipe(Schema.brand("RunnerId"))
export type RunnerId = typeof RunnerId.Type

/** A run as whoever has taken it up names it: with the epoch of that take. */
export type HeldRun = Pick<Run, "epoch" | "id" | "organizationId">

/** What a runner that wants to carry a run says. */
export interface RunClaim {
  readonly runnerId: RunnerId
  readonly now: DateTime.Utc
  /** Until when the runner has it, unless it is heard of before. */
  readonly until: DateTime.Utc
}

/** A run that was taken up. */
export interface TakenRun {
  /** The run as it is kept, in the epoch of this take; where it goes on, with what was last told of its usage. */
  readonly run: Run
  /** Whether somebody has asked for it to stop. */
  readonly isCancelled: boolean
}

/** What a runner that is still there says of a run that it carries. */
export interface Heartbeat extends HeldRun {
  /**
   * What the run has used up so far: should nothing more be heard of it, this is counted. A sum never falls, so one that
   * another heartbeat has overtaken takes nothing back.
   */
  readonly usage: RunUsage
}

/** A run that its runner still has. */
export interface RenewedRun {
  readonly id: Run["id"]
  /** Whether somebody has asked for it to stop. */
  readonly isCancelled: boolean
}

/** Who carries a run that has not come to its end, with everything told of it. */
export interface RunLease {
  /** The runner that carries it; nobody before it is taken up, and once it was handed over. */
  readonly runnerId: RunnerId | undefined
  /** How often it was taken up. */
  readonly epoch: number
  /** From this moment on, anybody may take it up. */
  readonly until: DateTime.Utc
  readonly isCancelled: boolean
  /** What its runner has told that it used up. */
  readonly usage: RunUsage
}

/** How long nobody looks after a run that was just asked: whoever asked it is about to start it. */
const startGrace = Duration.seconds(10)

/** From when on a run that was asked, and that nobody has started, is looked after. */
export const startedBy = (run: Pick<Run, "createdAt">): DateTime.Utc => DateTime.addDuration(run.createdAt, startGrace)

/** The lease of a run that was just asked. */
export const unstarted = (run: Run): RunLease => ({
  runnerId: undefined,
  epoch: run.epoch,
  until: startedBy(run),
  isCancelled: false,
  usage: run.usage
})

/** Whether a lease has run out at a moment. */
export const isOver = (lease: RunLease, now: DateTime.Utc): boolean => DateTime.isLessThanOrEqualTo(lease.until, now)

/** The lease of a run that is taken up; none while another runner has it. */
export const take = (lease: RunLease, { now, runnerId, until }: RunClaim): Option.Option<RunLease> =>
  lease.runnerId === undefined || isOver(lease, now)
    ? Option.some({ ...lease, runnerId, epoch: lease.epoch + 1, until })
    : Option.none()

/**
 * The lease of a run whose runner is heard of; none where another runner has taken it up. A heartbeat that another has
 * overtaken shortens nothing, and one that comes after the run was handed over keeps nobody from it.
 */
export const renew = (lease: RunLease, beat: Heartbeat, until: DateTime.Utc): Option.Option<RunLease> =>
  lease.epoch === beat.epoch
    ? Option.some({
        ...lease,
        until: lease.runnerId === undefined ? lease.until : DateTime.max(lease.until, until),
        usage: greaterUsage(lease.usage, beat.usage)
      })
    : Option.none()
