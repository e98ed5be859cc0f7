/**
 * The matrix: every operation of the contract against every wrong caller, and against a proper one. Each refusal is the
 * one that the rules say, in the shape that the contract declares, and changes nothing; that it was refused is on the
 * record.
 *
 * Source: issue "Everything kept" §2; decisions.md §1 to §3; policy-cases K4, K20 to K24, K30 to K33, K37, K40.
 */
import { SandcastleLimits } from "@castellan/core/sandcastle/SandcastleLimits"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Caller, callersOf, layer as layerShared, overlook, Shared } from "./Callers.ts"
import { type Operation, operations } from "./Operations.ts"
import { refuse, type Refused, requestWith } from "./Refusals.ts"
import { type MatrixRequest, requestsOf } from "./Requests.ts"
import type { Rule } from "./Rule.ts"
import { anonymous, besideContract, rules } from "./Rules.ts"
import * as Served from "./Served.ts"
import { Witness } from "./Witness.ts"
import * as World from "./World.ts"

const ruleOf = ({ name }: Operation): Rule => {
  const rule = rules[name]
  if (rule !== undefined) return rule
  throw new Error(
    `${name} is new: say in Rules.ts what it asks of its callers, or in \`anonymous\` why it asks nothing`
  )
}

const variantOf = (operation: Operation, world: World.World, variant: string): MatrixRequest => {
  const found = requestsOf(operation, world.filling).find((request) => request.variant === variant)
  if (found === undefined) throw new Error(`${operation.name}: no request${variant}`)
  return found
}

/** Has a request served; answers with what is wrong about it. */
const served = Effect.fnUntraced(function* (request: MatrixRequest, who: string, credential: string) {
  const answer = yield* Served.send(requestWith(request, credential))
  return request.operation.successes.includes(answer.status)
    ? []
    : [`${who}${request.variant}: should be served, and is ${answer.status} ${answer.text.slice(0, 200)}`]
})

/** Has a request of a foreigner served, who must change nothing of the organization; answers with what is wrong. */
const servedElsewhere = Effect.fnUntraced(function* (request: MatrixRequest, who: string) {
  const { world } = yield* Shared
  const wrong = yield* served(request, who, world.keys.foreign)
  const { within } = yield* Witness.use(({ observe }) => observe(world.tenant.organizationId))
  return within.length === 0 ? wrong : [...wrong, `${who}${request.variant}: changes ${within.join(", ")}`]
})

/** Serves somebody in a world of their own; answers with what is wrong about it. */
const servedApart = Effect.fnUntraced(function* (request: MatrixRequest, { credential, who }: Caller) {
  const own = yield* World.make
  const { ignore } = yield* Witness
  yield* Effect.forEach(own.organizations, ignore)
  return yield* served(variantOf(request.operation, own, request.variant), who, yield* credential(own))
})

/** What the matrix runs on. */
export type Deployment = Layer.Layer<Served.Parts | Witness, unknown>

/** How much of the matrix is run. */
export interface SuiteOptions {
  /**
   * Whether what is left behind is looked at after each refusal, and whoever is served has a world made for them to
   * change. Where that takes its time, it is looked at once for each operation, and reads alone are served. Default: true.
   */
  readonly isThorough?: boolean
}

/** Everything of one operation; answers with what is wrong. */
const walked = Effect.fnUntraced(function* (operation: Operation, isThorough: boolean) {
  const { keyWith, outsiders, world } = yield* Shared
  const organization = world.tenant.organizationId
  const wrong: Array<string> = []
  for (const request of requestsOf(operation, world.filling)) {
    const refused: Array<Refused> = outsiders.map(({ credential, message, who }) => ({
      who,
      credential,
      refusal: { code: "unauthenticated", message }
    }))
    const others: Array<Caller & { readonly key: string }> = []
    for (const caller of callersOf(operation, ruleOf(operation))) {
      const key = yield* caller.credential({ keys: world.keys, keyWith })
      const { expected, who } = caller
      if (expected === "served") others.push({ ...caller, key })
      else refused.push({ who, credential: key, refusal: expected })
    }
    wrong.push(...(yield* refuse(organization, request, refused, isThorough ? "each" : "together")))
    for (const caller of others) {
      if (caller.key === world.keys.foreign) wrong.push(...(yield* servedElsewhere(request, caller.who)))
      // What is read stays as it is, but for the moment at which a sandcastle was last used.
      else if (operation.method === "GET") wrong.push(...(yield* served(request, caller.who, caller.key)))
      // A session is its own world's.
      else if (isThorough && !caller.key.includes(".")) wrong.push(...(yield* servedApart(request, caller)))
    }
    yield* overlook(organization)
  }
  return wrong
})

/** What a list says its length is: in `total_count`, or as the sum of its `counts`; nothing where it does not say. */
const countOf = (text: string): number | undefined => {
  const fields = fieldsOf(text)
  const { counts, total_count: total } = fields
  if (typeof total === "number") return total
  if (typeof counts !== "object" || counts === null) return undefined
  return Object.values(counts).reduce((sum: number, count) => sum + Number(count), 0)
}

/** How many rows a list holds. */
const lengthOf = (text: string): number =>
  Object.values(fieldsOf(text)).reduce((length: number, rows) => length + (Array.isArray(rows) ? rows.length : 0), 0)

const fieldsOf = (text: string): { readonly [name: string]: unknown } => {
  const parsed: unknown = JSON.parse(text)
  return typeof parsed === "object" && parsed !== null ? Object.fromEntries(Object.entries(parsed)) : {}
}

/** Lists, and whatever else tells of an organization as a whole. */
const lists = operations.filter(
  ({ method, name, pathParameters }) => method === "GET" && pathParameters.length === 0 && anonymous[name] === undefined
)
const open = operations.filter(({ name }) => anonymous[name] !== undefined)
const guarded = operations.filter(({ name }) => anonymous[name] === undefined)

/** Every operation has a world of its own, with a sandcastle in it, on one server. */
export const manySandcastles = Layer.effect(
  SandcastleLimits,
  Effect.map(SandcastleLimits, (limits) => ({ ...limits, perServer: 100_000 }))
)

/** The matrix over a deployment. */
export const suite = (title: string, deployment: Deployment, { isThorough = true }: SuiteOptions = {}): void => {
  const site = layerShared.pipe(
    Layer.provideMerge(Served.layer),
    Layer.provideMerge(deployment),
    Layer.provide(manySandcastles)
  )
  layer(site, { timeout: "180 seconds", excludeTestServices: true })(`the matrix of callers: ${title}`, (it) => {
    it.effect.each(guarded.map((operation) => [operation.name, operation] as const))("%s", ([, operation]) =>
      Effect.map(walked(operation, isThorough), (wrong) => assert.deepStrictEqual(wrong, []))
    )

    it.effect.each(open.map((operation) => [operation.name, operation] as const))(
      "%s asks for no credentials",
      ([, operation]) =>
        Effect.gen(function* () {
          const { world } = yield* Shared
          for (const request of requestsOf(operation, world.filling)) {
            const answer = yield* Served.send(requestWith(request, undefined))
            const statuses = operation.name === "assets.get" ? [403] : operation.successes
            assert.include(statuses, answer.status, answer.text)
          }
        })
    )

    it.effect.each(Object.keys(besideContract))("%s asks for no credentials", (path) =>
      Effect.gen(function* () {
        const { status } = yield* Served.send(new Request(`http://castellan.example${path}`))
        assert.strictEqual(status, 200)
      })
    )

    it.effect("the tables are of operations that are there", () =>
      Effect.sync(() => {
        const there = new Set(operations.map(({ name }) => name))
        const told = [...Object.keys(rules), ...Object.keys(anonymous)]
        assert.deepStrictEqual(
          told.filter((name) => !there.has(name)),
          []
        )
        assert.deepStrictEqual(
          Object.keys(anonymous).filter((name) => rules[name] !== undefined),
          []
        )
      })
    )

    it.effect.each(lists.map((operation) => [operation.name, operation] as const))(
      "%s tells nobody of what is hidden from them, nor counts it",
      ([, operation]) =>
        Effect.gen(function* () {
          const { world } = yield* Shared
          const hidden = world.hidden[operation.name]
          if (hidden === undefined) {
            return assert.fail(`${operation.name}: say in WorldFilling.ts (\`hidden\`) what it tells the maker alone`)
          }
          for (const request of requestsOf(operation, world.filling)) {
            const own = yield* Served.send(requestWith(request, world.keys.maker))
            for (const one of hidden.told) assert.include(own.text, one)
            for (const who of hidden.from) {
              const { status, text } = yield* Served.send(requestWith(request, world.keys[who]))
              assert.strictEqual(status, 200, text)
              for (const one of hidden.told) assert.notInclude(text, one, who)
              const counted = countOf(text)
              if (counted !== undefined) assert.strictEqual(counted, lengthOf(text), who)
            }
          }
        })
    )
  })
}
