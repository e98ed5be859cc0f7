/**
 * A transaction over the in-memory stores: what it writes is seen by itself alone until it commits, in one step.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { Transaction } from "../transaction/Transaction.ts"

/** A transaction that is going on, as the tables that take part see it. */
export interface MemoryTransaction {
  /** False once it has committed or was given up. */
  readonly isOpen: boolean
  /** Has a table's writes carried out when the transaction commits. */
  readonly onCommit: (write: () => void) => void
}

/** The transaction that the fiber runs in. */
export const CurrentMemoryTransaction = Context.Reference<MemoryTransaction | undefined>(
  "@castellan/core/memory/MemoryTransaction/Current",
  { defaultValue: () => undefined }
)

class Open implements MemoryTransaction {
  isOpen = true
  private readonly writes: Array<() => void> = []

  onCommit(write: () => void): void {
    this.writes.push(write)
  }

  commit(): void {
    this.isOpen = false
    for (const write of this.writes) write()
  }

  abandon(): void {
    this.isOpen = false
  }
}

/** Transactions over the in-memory stores, one at a time: each sees the others whole or not at all. */
export const layerMemory: Layer.Layer<Transaction> = Layer.effect(
  Transaction,
  Effect.map(Semaphore.make(1), (turn) =>
    Transaction.of({
      run: (effect) =>
        Effect.flatMap(CurrentMemoryTransaction, (outer) =>
          outer?.isOpen === true
            ? effect
            : turn.withPermits(1)(
                Effect.suspend(() => {
                  const transaction = new Open()
                  return effect.pipe(
                    Effect.tap(() => Effect.sync(() => transaction.commit())),
                    Effect.provideService(CurrentMemoryTransaction, transaction),
                    Effect.ensuring(Effect.sync(() => transaction.abandon()))
                  )
                })
              )
        )
    })
  )
)
