/**
 * What a server has at hand of one run's log while somebody follows it: its latest entries, as the same objects for
 * every follower, and how long the log is known to be. It holds a bounded number of entries; who reads slowly finds the
 * older ones in the database.
 */
import type { LoggedRun } from "@castellan/core/run/RunLog"
import { type RunEvent, RunLogEntry } from "@castellan/core/run/RunEvent"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Entries that followers are handed at once, and that one statement reads. */
export const pageLength = 256

/** Entries at hand at most; older ones are let go of. */
export const windowLength = 1024

/** A log as a statement found it. */
export interface LogState {
  readonly length: number
  readonly isEnded: boolean
}

/** The latest entries of a run's log. */
export class RunLogFeed {
  readonly run: LoggedRun
  followers = 0
  /** One reads the database, and the others find what it read. */
  readonly reading = Semaphore.makeUnsafe(1)
  /** Entries up to this sequence number are not at hand; unknown before the log was looked at. */
  private start: number | undefined
  private entries: Array<RunLogEntry> = []
  /** How long the log is known to be. */
  private length = 0
  private isEnded = false
  private isRemoved = false
  private wasFound = false
  private grown = Deferred.makeUnsafe<void>()

  constructor(run: LoggedRun) {
    this.run = run
  }

  /** Entries at hand. */
  get size(): number {
    return this.entries.length
  }

  /** Whether the log may still grow, as far as is known. */
  get isOpen(): boolean {
    return !this.isEnded && !this.isRemoved
  }

  /** Whether the log is known to have been there: it was looked at, or somebody has told of it. */
  get isFound(): boolean {
    return this.wasFound
  }

  /** The sequence number of the latest entry at hand; nothing before the log was looked at. */
  get tail(): number | undefined {
    return this.start === undefined ? undefined : this.start + this.entries.length
  }

  /** Whether there is more in the database than at hand. */
  get isBehind(): boolean {
    return this.tail === undefined || this.tail < this.length
  }

  /** The first sequence number from which on entries are at hand, for who is before it. */
  isBefore(cursor: number): boolean {
    return this.start !== undefined && cursor < this.start
  }

  /** Where what is at hand begins. */
  get beginning(): number {
    return this.start ?? 0
  }

  /** Whether nothing will ever come after an entry. */
  isOver(cursor: number): boolean {
    return this.isRemoved || (this.isEnded && cursor >= this.length)
  }

  /** The entries after a sequence number, as many as are handed out at once. */
  after(cursor: number): ReadonlyArray<RunLogEntry> {
    const from = cursor - this.beginning
    return from < 0 ? [] : this.entries.slice(from, from + pageLength)
  }

  /** Somebody says how long the log is. */
  grow(length: number): void {
    this.wasFound = true
    if (length <= this.length) return
    this.length = length
    this.wake()
  }

  /** The log was looked at: what it held after the latest entry at hand, or after the cursor of who looked first. */
  found(state: LogState | undefined, cursor: number, entries: ReadonlyArray<RunLogEntry>): void {
    if (state !== undefined) this.wasFound = true
    this.start ??= Math.min(cursor, state?.length ?? 0)
    this.length = Math.max(this.length, state?.length ?? 0)
    this.isEnded ||= state?.isEnded ?? false
    for (const entry of entries) this.push(entry)
    this.wake()
  }

  /** What this very server has appended after a sequence number. */
  appended(after: number, events: ReadonlyArray<RunEvent>): void {
    this.wasFound = true
    // Where something before it is missing, it is read together with that.
    if (this.tail === after) {
      events.forEach((event, index) => this.push(new RunLogEntry({ sequence: after + index + 1, event })))
    }
    this.length = Math.max(this.length, after + events.length)
    this.wake()
  }

  /** The log is gone: nobody will hear the rest. */
  remove(): void {
    this.isRemoved = true
    this.wake()
  }

  /** Completes at the next change. */
  get changed(): Effect.Effect<void> {
    return Deferred.await(this.grown)
  }

  private push(entry: RunLogEntry): void {
    if (entry.sequence !== (this.tail ?? 0) + 1) return
    this.entries.push(entry)
    this.length = Math.max(this.length, entry.sequence)
    if (entry.event._tag === "Done") this.isEnded = true
    if (this.entries.length >= 2 * windowLength) {
      this.start = this.beginning + this.entries.length - windowLength
      this.entries = this.entries.slice(-windowLength)
    }
  }

  private wake(): void {
    const { grown } = this
    this.grown = Deferred.makeUnsafe()
    Deferred.doneUnsafe(grown, Effect.void)
  }
}
