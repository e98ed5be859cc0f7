/**
 * Everything that the stores of a deployment are told to write, as far as it is kept: what is written in a transaction
 * counts once that commits. So it can be said that a request changed nothing, whatever store it might have changed.
 *
 * Every operation of every store says here whether it writes. One that is not known fails the journal, so that a new one
 * cannot be forgotten.
 */
import type * as Stores from "@castellan/core/memory/Stores"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { Transaction } from "@castellan/core/transaction/Transaction"
import { Context, Effect, Layer } from "effect"
import { type Observation, Witness } from "./Witness.ts"

/** What was written: the store and its operation, such as `chat/ChatStore.save`, with what it was given. */
export interface Write {
  readonly operation: string
  readonly given: ReadonlyArray<unknown>
}

const reading = new Set(
  `get list named byHash minters byEmail withRole numbered ofAgent ofChat ofPlaybook ofRuns unfinished due version body counts
   head tree blobs files read follow reveal runs run feedback sums idleSince ofHash ofKey ofMember ofSession
   content running isHeld abandoned`.split(/\s+/)
)

const writing = new Set(
  `commit save end remove add put removeOf append replace open ask saveFeedback saveRun endRun nextId advance addCommit addTree
   addBlobs take store record purge renew answer release claim`.split(/\s+/)
)

/** Operations that go by the name of another store's, and do the other thing. */
const exceptions: { readonly [operation: string]: "reads" | "writes" | "ignored" } = {
  "library/LibraryStore.commit": "reads",
  // The first look at the models of an organization numbers them: reading is all that it is for.
  "model/ModelStore.numbered": "reads",
  // When a key was last used is noted once a minute, whatever becomes of the request: also in the middle of the matrix,
  // where that takes its time.
  "apikey/ApiKeyStore.used": "ignored",
  // Every request takes a token of its organization, whatever becomes of it.
  "ratelimit/RateLimitStore.take": "ignored"
}

const kindOf = (operation: string): "reads" | "writes" | "ignored" => {
  const known = exceptions[operation]
  if (known !== undefined) return known
  const name = operation.slice(operation.lastIndexOf(".") + 1)
  if (writing.has(name)) return "writes"
  if (reading.has(name)) return "reads"
  throw new Error(`${operation}: say in Journal.ts whether it writes`)
}

/** What a transaction writes, until it has ended; a fiber that outlives it is outside of it. */
interface Pending {
  isOpen: boolean
  writes: Array<Write>
}

const CurrentPending = Context.Reference<Pending | undefined>("@castellan/http/test/matrix/Journal/CurrentPending", {
  defaultValue: () => undefined
})

const isOperation = (value: unknown): value is (...given: ReadonlyArray<unknown>) => unknown =>
  typeof value === "function"

/** A store that tells of its writes. */
const telling = <Store extends object>(
  name: string,
  store: Store,
  tell: (write: Write) => Effect.Effect<void>
): Store =>
  new Proxy(store, {
    get: (target, property, receiver) => {
      const found: unknown = Reflect.get(target, property, receiver)
      if (typeof property !== "string" || !isOperation(found)) return found
      const operation = `${name}.${property}`
      if (kindOf(operation) !== "writes") return found
      return (...given: ReadonlyArray<unknown>): unknown => {
        const written: unknown = Reflect.apply(found, target, given)
        if (!Effect.isEffect(written)) throw new Error(`${operation}: writes, and is no effect`)
        return Effect.tap(written, () => tell({ operation, given }))
      }
    }
  })

const prefix = "@castellan/core/"
const auditing = "audit/AuditStore.append"

/** What was written, as a witness tells it. */
const observed = (writes: ReadonlyArray<Write>, organization: OrganizationId): Observation => {
  const events = writes.filter(({ operation }) => operation === auditing).map(({ given }) => JSON.stringify(given))
  const refusals = events.filter((event) => event.includes('"_tag":"Refused"')).length
  const others = writes.filter(({ operation }) => operation !== auditing)
  const isWithin = ({ given }: Write): boolean => JSON.stringify(given).includes(organization)
  return {
    within: others.filter(isWithin).map(({ operation }) => operation),
    elsewhere: others.filter((write) => !isWithin(write)).map(({ operation }) => operation),
    refusals,
    deeds: events.length - refusals
  }
}

/** Stores that are told about by a witness. */
export const layer = <E>(stores: Layer.Layer<Stores.Stores, E>): Layer.Layer<Stores.Stores | Witness, E> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const context = yield* Layer.build(stores)
      let kept: Array<Write> = []
      const ignored: Array<string> = []
      const tell = (write: Write) =>
        Effect.map(CurrentPending, (pending) => {
          const to = pending?.isOpen === true ? pending.writes : kept
          to.push(write)
        })
      let told: Context.Context<Stores.Stores> = context
      for (const [key, service] of context.mapUnsafe) {
        if (key === Transaction.key || !key.startsWith(prefix)) continue
        if (typeof service !== "object" || service === null) continue
        told = Context.makeUnsafe(new Map(told.mapUnsafe).set(key, telling(key.slice(prefix.length), service, tell)))
      }
      const transaction = Context.get(context, Transaction)
      const run: Transaction["Service"]["run"] = (effect) =>
        Effect.flatMap(CurrentPending, (outer) => {
          if (outer?.isOpen === true) return transaction.run(effect)
          const pending: Pending = { isOpen: true, writes: [] }
          const body = Effect.suspend(() => {
            // It may be run again.
            pending.writes = []
            return Effect.provideService(effect, CurrentPending, pending)
          })
          return transaction.run(body).pipe(
            Effect.tap(() => Effect.sync(() => kept.push(...pending.writes))),
            Effect.ensuring(
              Effect.sync(() => {
                pending.isOpen = false
              })
            )
          )
        })
      return told.pipe(
        Context.add(Transaction, Transaction.of({ run })),
        Context.add(
          Witness,
          Witness.of({
            observe: (organization) =>
              Effect.sync(() => {
                const taken = kept.filter(({ given }) => {
                  const text = JSON.stringify(given)
                  return !ignored.some((other) => text.includes(other))
                })
                kept = []
                return observed(taken, organization)
              }),
            ignore: (organization) => Effect.sync(() => void ignored.push(organization))
          })
        )
      )
    })
  )
