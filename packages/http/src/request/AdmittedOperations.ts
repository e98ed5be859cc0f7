/**
 * The operations that take a bearer value, as the application carries them out.
 *
 * The contract's builder makes a route of each: what decodes a request and carries it out, inside of the contract's
 * middlewares, inside of all services that were there when it was made. That is put together anew for every request: the
 * services are copied, each way to say who one is is tried, errors go through their schemas. For a small read it is a
 * third of all that HTTP costs. So what the builder has made to decode and carry out is taken as it is, and what belongs
 * around it is put there once: the credentials and the limits in front, the envelope of errors behind.
 *
 * The routes of the builder stay for whatever has other middlewares, which is what speaks the Connect protocol or is
 * open to everybody.
 *
 * Source: decisions.md §1 ("Order of checks"), §2; issue 4, "Measures".
 */
import { Authentication as BearerSecurity } from "@castellan/api/access/Authentication"
import { SchemaErrors } from "@castellan/api/error/SchemaErrors"
import type { Authentication } from "@castellan/core/access/Authentication"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as RequestCredentials from "../access/RequestCredentials.ts"
import { Admission } from "./Admission.ts"
import * as FailureResponse from "./FailureResponse.ts"

/** An operation, whoever calls it. */
type Operation<E> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, HttpRouter.Provided>

/** What names an operation. */
interface Named {
  readonly method: string
  readonly path: string
}

/** The operations, by method and path. */
export class AdmittedOperations extends Context.Service<
  AdmittedOperations,
  {
    /** Keeps what carries out the requests of an operation. */
    readonly add: (operation: Named, app: Operation<never>) => void
    /** What carries out the requests of a route; nothing where it has other middlewares. */
    readonly find: (route: Named) => Operation<never> | undefined
  }
>()("@castellan/http/request/AdmittedOperations") {}

const nameOf = ({ method, path }: Named): string => `${method} ${path}`

/** No operations yet. */
export const make = (): AdmittedOperations["Service"] => {
  const known = new Map<string, Operation<never>>()
  return AdmittedOperations.of({
    add: (operation, app) => {
      known.set(nameOf(operation), app)
    },
    find: (route) => known.get(nameOf(route))
  })
}

/**
 * Whether an operation is admitted by a bearer value, and its requests need nothing else but to be of its shape. The shape
 * comes within: what is around the credentials would be admitted twice.
 */
const takesBearer = ({ middlewares }: HttpApiEndpoint.Top): boolean => {
  const [inner, outer, ...others] = middlewares
  return inner === SchemaErrors && outer === BearerSecurity && others.length === 0
}

/** The answer with an error of the domain, as every operation has it; what else there may be is a defect. */
const answered = (error: unknown): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const answer = FailureResponse.ofError(error)
  return answer === undefined ? Effect.die(error) : Effect.succeed(answer)
}

/** Takes operations, each with its answers for requests that its schemas refuse; those that take a bearer value are kept. */
export const taking: Effect.Effect<
  (endpoint: HttpApiEndpoint.Top, operation: Operation<unknown>) => void,
  never,
  AdmittedOperations | Admission | Authentication
> = Effect.gen(function* () {
  const operations = yield* AdmittedOperations
  const { admit } = yield* Admission
  const { byBearer } = yield* RequestCredentials.make
  return (endpoint, operation) => {
    if (!takesBearer(endpoint)) return
    operations.add(endpoint, Effect.catch(Effect.withErrorReporting(admit(byBearer, operation)), answered))
  }
})
