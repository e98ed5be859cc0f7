/**
 * Processes that are kept for the next statement. One statement has one process at a time, so that whatever happens
 * to the process, from a crash to a kill, happens to that statement and no other.
 *
 * A process belongs to one version of one folder; it is replaced when the folder has changed, and closed when nobody
 * needed it for a while.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { DuckProcess } from "./DuckProcess.ts"
import type { ProcessEnded } from "./ProcessEnded.ts"

/** What a process serves. */
export interface Purpose {
  /** Processes of one group serve versions of the same thing; only the newest version is kept. */
  readonly group: string
  readonly version: string
}

/** The bounds of a pool. */
export interface PoolOptions {
  /** Processes at the same time, over all groups. */
  readonly concurrency: number
  /** How long a process waits for work before it is closed. */
  readonly idle: Duration.Duration
  /** Bytes of resident memory above which a process is not kept after its work. */
  readonly keepBelow: number
}

interface Member {
  readonly purpose: Purpose
  readonly process: DuckProcess
  readonly scope: Scope.Closeable
  expiry: Fiber.Fiber<void> | undefined
}

/** A pool of processes. */
export interface ProcessPool<P extends Purpose> {
  /** Does some work with a process for a purpose, kept or new. Waits for its turn. */
  readonly use: <A, E, R>(
    purpose: P,
    work: (process: DuckProcess) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ProcessEnded, R>
  /** Closes the processes of a group that wait for work, for good. */
  readonly forget: (group: string) => Effect.Effect<void>
}

/** Makes a pool; its processes are gone when the scope closes. */
export const make = Effect.fnUntraced(function* <P extends Purpose>(
  start: (purpose: P) => Effect.Effect<DuckProcess, ProcessEnded, Scope.Scope>,
  options: PoolOptions
): Effect.fn.Return<ProcessPool<P>, never, Scope.Scope> {
  const owner = yield* Effect.scope
  const turns = yield* Semaphore.make(options.concurrency)
  /** Waiting processes, the one used last at the end. */
  const idle: Array<Member> = []
  let busy = 0

  const close = (member: Member): Effect.Effect<void> => Scope.close(member.scope, Exit.void)

  const take = (index: number): Member | undefined => (index === -1 ? undefined : idle.splice(index, 1)[0])

  /** Takes the kept processes that cannot be used any more, and one more where there is no room for another. */
  const outdated = ({ group, version }: Purpose): ReadonlyArray<Member> => {
    const leaving = idle.filter(
      ({ process, purpose }) => !process.usable() || (purpose.group === group && purpose.version !== version)
    )
    for (const member of leaving) idle.splice(idle.indexOf(member), 1)
    return leaving
  }

  const startMember = Effect.fnUntraced(function* (purpose: P): Effect.fn.Return<Member, ProcessEnded> {
    const scope = yield* Scope.fork(owner)
    const process = yield* Effect.interruptible(start(purpose)).pipe(
      Scope.provide(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    return { purpose, process, scope, expiry: undefined }
  })

  /** Runs uninterrupted but for the start of a process, which may take a while. */
  const checkOut = Effect.fnUntraced(
    function* (purpose: P): Effect.fn.Return<Member, ProcessEnded> {
      const leaving = [...outdated(purpose)]
      const kept = take(idle.findLastIndex((member) => member.purpose.group === purpose.group))
      if (kept === undefined && idle.length + busy >= options.concurrency) {
        const oldest = take(0)
        if (oldest !== undefined) leaving.push(oldest)
      }
      busy++
      for (const member of leaving) yield* close(member)
      if (kept?.expiry !== undefined) yield* Fiber.interrupt(kept.expiry)
      return kept ?? (yield* startMember(purpose))
    },
    Effect.onError(() => Effect.sync(() => busy--))
  )

  const checkIn = Effect.fnUntraced(function* (member: Member) {
    busy--
    if (!member.process.usable() || (member.process.residentMemory() ?? 0) > options.keepBelow)
      return yield* close(member)
    idle.push(member)
    const expire = Effect.suspend(() => {
      const index = idle.indexOf(member)
      if (index === -1) return Effect.void
      idle.splice(index, 1)
      return close(member)
    })
    member.expiry = yield* Effect.sleep(options.idle).pipe(Effect.andThen(expire), Effect.forkIn(owner))
  })

  const forget = Effect.fnUntraced(function* (group: string) {
    const leaving = idle.filter(({ purpose }) => purpose.group === group)
    for (const member of leaving) idle.splice(idle.indexOf(member), 1)
    for (const member of leaving) {
      if (member.expiry !== undefined) yield* Fiber.interrupt(member.expiry)
      yield* close(member)
    }
  }, Effect.uninterruptible)

  return {
    forget,
    use: (purpose, work) =>
      turns.withPermit(
        Effect.acquireUseRelease(
          checkOut(purpose),
          (member) => work(member.process),
          (member) => checkIn(member)
        )
      )
  }
})
