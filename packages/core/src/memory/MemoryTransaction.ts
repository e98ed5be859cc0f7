/**
 * A transaction over the in-memory stores: what it writes is seen by itself alone until it commits, in one step.
 * Where a write from outside of any transaction changed what it had read, it is run again.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { Transaction } from "../transaction/Transaction.ts"

/** A table's part in a transaction. */
export interface TransactionPart {
  /** Whether somebody else has changed what the transaction read of the table. */
  readonly isStale: () => boolean
  /** Writes to the table what the transaction wrote. */
  readonly commit: () => void
  /** Forgets the transaction. Called once, after the commit or instead of it. */
  readonly leave: () => void
}

/** A transaction that is going on, as the tables that take part see it. */
export interface MemoryTransaction {
  /** False once it has committed or was given up. */
  readonly isOpen: boolean
  /** Has a table take part. */
  readonly join: (part: TransactionPart) => void
}

/** The transaction that the fiber runs in. */
export const CurrentMemoryTransaction = Context.Reference<MemoryTransaction | undefined>(
  "@castellan/core/memory/MemoryTransaction/Current",
  { defaultValue: () => undefined }
)

class Open implements MemoryTransaction {
  isOpen = true
  private readonly parts: Array<TransactionPart> = []

  join(part: TransactionPart): void {
    this.parts.push(part)
  }

  get isStale(): boolean {
    return this.parts.some((part) => part.isStale())
  }

  commit(): void {
    this.abandon((part) => part.commit())
  }

  abandon(before: (part: TransactionPart) => void = () => {}): void {
    this.isOpen = false
    for (const part of this.parts) {
      before(part)
      part.leave()
    }
  }
}

/** Runs an effect in a transaction of its own, as often as it takes to see every table as it is when it commits. */
const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) => {
    const attempt: Effect.Effect<A, E, R> = Effect.suspend(() => {
      const transaction = new Open()
      return Effect.flatMap(
        Effect.exit(restore(Effect.provideService(effect, CurrentMemoryTransaction, transaction))),
        (exit) => {
          const isInterrupted = Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
          const isStale = transaction.isStale
          if (Exit.isSuccess(exit) && !isStale) transaction.commit()
          else transaction.abandon()
          // A failure, too, may come of what is no longer so.
          return isStale && !isInterrupted ? Effect.andThen(restore(Effect.yieldNow), attempt) : exit
        }
      )
    })
    return attempt
  })

/** Transactions over the in-memory stores, one at a time: each sees the others whole or not at all. */
export const layerMemory: Layer.Layer<Transaction> = Layer.effect(
  Transaction,
  Effect.map(Semaphore.make(1), (turn) =>
    Transaction.of({
      run: (effect) =>
        Effect.flatMap(CurrentMemoryTransaction, (outer) =>
          outer?.isOpen === true ? effect : turn.withPermits(1)(inTransaction(effect))
        )
    })
  )
)
