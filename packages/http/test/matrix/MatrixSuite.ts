/**
 * The matrix: every operation of the contract against every wrong caller, and against a proper one. Each refusal is the
 * one that the rules say, in the shape that the contract declares, and changes nothing; that it was refused is on the
 * record.
 *
 * Source: issue "Everything kept" §2; decisions.md §1 to §3; policy-cases K4, K20 to K24, K30 to K33, K37, K40.
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { errorStatus } from "@castellan/api/error/ErrorStatus"
import { connectCode, statusOf } from "@castellan/api/rpc/ConnectError"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as Expectations from "./Expectations.ts"
import { type Operation, operations } from "./Operations.ts"
import { type MatrixRequest, requestsOf } from "./Requests.ts"
import { anonymous, type Refusal, type Rule, rules } from "./Rules.ts"
import * as Served from "./Served.ts"
import { Witness } from "./Witness.ts"
import * as World from "./World.ts"

/** What the operations that refuse are asked about: one world, which nobody changes. */
class Shared extends Context.Service<
  Shared,
  {
    readonly world: World.World
    readonly outsiders: ReadonlyArray<Expectations.Outsider>
    readonly sessions: Effect.Success<World.World["sessions"]>
    /** Keys of the maker by what they may do, each made once. */
    readonly keyWith: (authority: World.Authority) => Effect.Effect<string, never, Served.Parts | Served.Served>
  }
>()("@castellan/http/test/matrix/Shared") {}

/** That a key was used is noted once a minute: let it be before somebody looks. */
const use = (key: string) =>
  Served.send(new Request("http://castellan.example/v2/models", { headers: { authorization: `Bearer ${key}` } }))

const shared = Layer.effect(
  Shared,
  Effect.gen(function* () {
    const world = yield* World.make
    const outsiders = yield* Expectations.outsiders(world)
    const sessions = yield* world.sessions
    const made = new Map<string, string>()
    const keyWith = Effect.fnUntraced(function* (authority: World.Authority) {
      const name = String(authority)
      const known = made.get(name)
      if (known !== undefined) return known
      const key = yield* world.keyWith(authority)
      yield* use(key)
      made.set(name, key)
      return key
    })
    yield* Effect.forEach(Object.values(world.keys), use)
    return Shared.of({ world, outsiders, sessions, keyWith })
  })
)

const ruleOf = ({ name }: Operation): Rule => {
  const rule = rules[name]
  if (rule !== undefined) return rule
  throw new Error(
    `${name} is new: say in Rules.ts what it asks of its callers, or in \`anonymous\` why it asks nothing`
  )
}

const requestWith = ({ body, headers, operation, url }: MatrixRequest, credential: string | undefined): Request => {
  const own =
    credential === undefined
      ? {}
      : operation.credential === "bearer"
        ? { authorization: `Bearer ${credential}` }
        : { svc_api_key: credential }
  return new Request(url, {
    method: operation.method,
    headers: { ...headers, ...own },
    ...(body === undefined ? {} : { body })
  })
}

/** An envelope, with the words of its message put aside where they are as they should be. */
const envelopeOf = ({ isConnect }: Operation, { code }: Refusal, message: string): unknown =>
  isConnect ? { code: connectCode[code], message, details: [] } : { error: { code, message } }

const messageOf = (text: string): string => {
  const parsed: unknown = JSON.parse(text)
  const found = /"message":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(parsed))?.[1]
  return found === undefined ? "" : String(JSON.parse(found))
}

/** What is wrong with an answer that should be a refusal; nothing when it is as it should be. */
const wrongRefusal = ({ operation }: MatrixRequest, refusal: Refusal, answer: Served.Answer): ReadonlyArray<string> => {
  const { code, message } = refusal
  const status = operation.isConnect ? statusOf(code) : errorStatus[code]
  const said = `${answer.status} ${answer.text.slice(0, 200)}`
  if (answer.status !== status) return [`is ${said}, and should be ${status} ${code} ${String(message)}`]
  const wrong: Array<string> = []
  const words = messageOf(answer.text)
  const isSaid = typeof message === "string" ? words === message : message.test(words)
  if (!isSaid) wrong.push(`says ${said}, and should say ${String(message)}`)
  if (answer.text !== JSON.stringify(envelopeOf(operation, refusal, words))) wrong.push(`has no envelope: ${said}`)
  if (answer.headers.get("content-type") !== "application/json") wrong.push("is no JSON")
  if (answer.headers.get("x-request-id") === null) wrong.push("has no request id")
  const challenge = operation.credential === "bearer" ? "Bearer" : "svc_api_key"
  const expected = code === "unauthenticated" ? challenge : null
  if (answer.headers.get("www-authenticate") !== expected) {
    wrong.push(`has the challenge ${answer.headers.get("www-authenticate")}, and should have ${expected}`)
  }
  if (!operation.failures.includes(status)) wrong.push(`has a status that the contract does not declare: ${status}`)
  return wrong
}

/** What is wrong about what refusals left behind; nothing when that is what they should leave: a record, and no more. */
const wrongTraces = Effect.fnUntraced(function* (organization: OrganizationId, recorded: number) {
  const { deeds, elsewhere, refusals, within } = yield* Witness.use(({ observe }) => observe(organization))
  const changed = [...within, ...elsewhere]
  return [
    ...(changed.length === 0 ? [] : [`changes ${changed.join(", ")}`]),
    ...(deeds === 0 ? [] : ["is on the record as done"]),
    ...(refusals === recorded ? [] : [`is on the record ${refusals} times, and should be ${recorded} times`])
  ]
})

/** Lets what was changed on purpose be seen by nobody. */
const overlook = (organization: OrganizationId) => Effect.asVoid(Witness.use(({ observe }) => observe(organization)))

/** Has a request refused; answers with what is wrong about it. */
const refused = Effect.fnUntraced(function* (
  organization: OrganizationId,
  request: MatrixRequest,
  who: string,
  credential: string | undefined,
  refusal: Refusal
) {
  const answer = yield* Served.send(requestWith(request, credential))
  const traces = yield* wrongTraces(organization, refusal.code === "permission_denied" ? 1 : 0)
  return [...wrongRefusal(request, refusal, answer), ...traces].map((what) => `${who}${request.variant}: ${what}`)
})

/** Has everybody turned away whom authentication does not know; answers with what is wrong about it. */
const turnedAway = Effect.fnUntraced(function* (
  organization: OrganizationId,
  request: MatrixRequest,
  outsiders: ReadonlyArray<Expectations.Outsider>
) {
  const wrong: Array<string> = []
  for (const { credential, message, who } of outsiders) {
    const answer = yield* Served.send(requestWith(request, credential))
    const refusal = { code: "unauthenticated", message } as const
    wrong.push(...wrongRefusal(request, refusal, answer).map((what) => `${who}${request.variant}: ${what}`))
  }
  const traces = yield* wrongTraces(organization, 0)
  return [...wrong, ...traces.map((what) => `one of those who are turned away${request.variant}: ${what}`)]
})

/** Has a request served; answers with what is wrong about it. */
const served = Effect.fnUntraced(function* (request: MatrixRequest, who: string, credential: string) {
  const answer = yield* Served.send(requestWith(request, credential))
  return request.operation.successes.includes(answer.status)
    ? []
    : [`${who}${request.variant}: should be served, and is ${answer.status} ${answer.text.slice(0, 200)}`]
})

/** Has a request of a foreigner served, who must change nothing of the organization. */
const servedElsewhere = Effect.fnUntraced(function* (
  organization: OrganizationId,
  request: MatrixRequest,
  who: string,
  credential: string
) {
  const wrong = yield* served(request, who, credential)
  const { within } = yield* Witness.use(({ observe }) => observe(organization))
  return within.length === 0 ? wrong : [...wrong, `${who}${request.variant}: changes ${within.join(", ")}`]
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

/** Somebody who is known, in a world. */
interface Caller {
  readonly who: string
  /** Whether the operation is meant for them. */
  readonly isProper?: boolean
  readonly expected: Expectations.Expectation
  readonly credential: (world: {
    readonly keys: World.World["keys"]
    readonly keyWith: Shared["Service"]["keyWith"]
  }) => Effect.Effect<string, never, Served.Parts | Served.Served | Shared>
}

/** Everybody who is known, with what the rule of an operation says about them. */
const callersOf = (operation: Operation, rule: Rule): ReadonlyArray<Caller> => {
  const proper = Expectations.exactly(rule)
  const by =
    (key: keyof World.World["keys"]): Caller["credential"] =>
    ({ keys }) =>
      Effect.succeed(keys[key])
  const bySession =
    (session: keyof Effect.Success<World.World["sessions"]>): Caller["credential"] =>
    () =>
      Effect.map(Shared, ({ sessions }) => sessions[session])
  const powerless = Expectations.ofPowerless(rule)
  const viewer = Expectations.ofViewer(rule)
  const old = Expectations.ofOldSession(operation, rule)
  return [
    {
      who: "a proper caller",
      isProper: true,
      expected: "served",
      credential: proper === "everything" ? by("maker") : ({ keyWith }) => keyWith(proper)
    },
    ...rule.needs.map(({ anyOf, otherwise }): Caller => ({
      who: `a key without ${anyOf.join(" and ")}`,
      expected: otherwise,
      credential: ({ keyWith }) => keyWith(Expectations.without(anyOf))
    })),
    { who: "a key without any permission", expected: powerless, credential: ({ keyWith }) => keyWith([]) },
    { who: "a session whose role was deleted", expected: powerless, credential: bySession("deleted") },
    { who: "a renewed session whose role was taken", expected: powerless, credential: bySession("renewed") },
    ...(old === undefined
      ? []
      : [{ who: "K40 a session whose role was just taken", expected: old, credential: bySession("unrenewed") }]),
    { who: "a restricted key", expected: Expectations.ofRestricted(rule), credential: by("restricted") },
    { who: "a stranger", expected: Expectations.ofStranger(rule), credential: by("stranger") },
    ...(viewer === undefined ? [] : [{ who: "a viewer", expected: viewer, credential: by("viewer") }]),
    { who: "an administrator", expected: Expectations.ofAdministrator(rule), credential: by("administrator") },
    {
      who: "an administrator of another organization",
      expected: Expectations.ofForeigner(rule),
      credential: by("foreign")
    }
  ]
}

const variantOf = (operation: Operation, world: World.World, variant: string): MatrixRequest => {
  const found = requestsOf(operation, world.filling).find((request) => request.variant === variant)
  if (found === undefined) throw new Error(`${operation.name}: no request${variant}`)
  return found
}

/** What is wrong about one caller's request. Whoever is served has a world of their own, where that may change it. */
const asked = Effect.fnUntraced(function* (
  request: MatrixRequest,
  { credential, expected, isProper = false, who }: Caller,
  { servesEverybody = true }: SuiteOptions
) {
  const { keyWith, world } = yield* Shared
  const within = world.tenant.organizationId
  const key = yield* credential({ keys: world.keys, keyWith })
  if (expected !== "served") {
    yield* overlook(within)
    return yield* refused(within, request, who, key, expected)
  }
  const { operation } = request
  if (key === world.keys.foreign) return yield* servedElsewhere(within, request, who, key)
  // What is read stays as it is, but for the moment at which a sandcastle was last used.
  if (operation.method === "GET") return yield* Effect.tap(served(request, who, key), () => overlook(within))
  // A session is its own world's.
  if (key.includes(".") || !(isProper || servesEverybody)) return []
  const own = yield* World.make
  const { ignore } = yield* Witness
  yield* Effect.forEach(own.organizations, ignore)
  return yield* served(variantOf(operation, own, request.variant), who, yield* credential(own))
})

/** What the matrix runs on. */
export type Deployment = Layer.Layer<Served.Parts | Witness, unknown>

/** How much of the matrix is run. */
export interface SuiteOptions {
  /** Whether everybody who is to be served has a world made for them, or the proper caller alone. Default: everybody. */
  readonly servesEverybody?: boolean
}

/** Lists, and whatever else tells of an organization as a whole. */
const lists = operations.filter(
  ({ method, name, pathParameters }) => method === "GET" && pathParameters.length === 0 && anonymous[name] === undefined
)
const open = operations.filter(({ name }) => anonymous[name] !== undefined)
const guarded = operations.filter(({ name }) => anonymous[name] === undefined)

/** The matrix over a deployment. */
export const suite = (title: string, deployment: Deployment, options: SuiteOptions = {}): void => {
  const site = shared.pipe(Layer.provideMerge(Served.layer), Layer.provideMerge(deployment))
  layer(site, { timeout: "120 seconds", excludeTestServices: true })(`the matrix of callers: ${title}`, (it) => {
    it.effect.each(guarded.map((operation) => [operation.name, operation] as const))("%s", ([, operation]) =>
      Effect.gen(function* () {
        const { outsiders, world } = yield* Shared
        const rule = ruleOf(operation)
        const wrong: Array<string> = []
        for (const request of requestsOf(operation, world.filling)) {
          yield* overlook(world.tenant.organizationId)
          wrong.push(...(yield* turnedAway(world.tenant.organizationId, request, outsiders)))
          for (const caller of callersOf(operation, rule)) wrong.push(...(yield* asked(request, caller, options)))
        }
        assert.deepStrictEqual(wrong, [])
      })
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
            return assert.fail(`${operation.name}: say in World.ts (\`hidden\`) what it tells the maker alone`)
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
