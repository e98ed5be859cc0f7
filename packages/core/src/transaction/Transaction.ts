/**
 * The port that makes several writes one: a use case and its audit event are kept together, or neither is.
 *
 * Source: architecture.md §2 ("A use case is one transaction").
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Runs effects as transactions over every store of the deployment. */
export class Transaction extends Context.Service<
  Transaction,
  {
    /**
     * Runs an effect so that all that the stores write in it is kept when it succeeds, and nothing when it fails, dies
     * or is interrupted. Transactions are serializable: what one has read is still so when it commits. An adapter may
     * run the effect again to achieve that, so it must do nothing but read and write stores. A transaction within
     * another is part of it.
     */
    readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@castellan/core/transaction/Transaction") {}
