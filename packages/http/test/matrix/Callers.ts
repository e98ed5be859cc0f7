/** Who calls in the matrix: keys and sessions of one world, which no caller changes. */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { Context, Effect, Layer } from "effect"
import * as Expectations from "./Expectations.ts"
import type { Operation } from "./Operations.ts"
import type { Rule } from "./Rule.ts"
import * as Served from "./Served.ts"
import { Witness } from "./Witness.ts"
import * as World from "./World.ts"
import type { Authority } from "./WorldSessions.ts"

/** What the operations that refuse are asked about: one world, which nobody changes. */
export class Shared extends Context.Service<
  Shared,
  {
    readonly world: World.World
    readonly outsiders: ReadonlyArray<Expectations.Outsider>
    readonly sessions: Effect.Success<World.World["sessions"]>
    /** Keys of the maker by what they may do, each made once. */
    readonly keyWith: (authority: Authority) => Effect.Effect<string, never, Served.Parts | Served.Served | Witness>
  }
>()("@castellan/http/test/matrix/Shared") {}

/** Lets what was changed on purpose be seen by nobody. */
export const overlook = (organization: OrganizationId) =>
  Effect.asVoid(Witness.use(({ observe }) => observe(organization)))

/** That a key was used is noted once a minute: let it be before somebody looks. */
const use = (key: string) =>
  Served.send(new Request("http://castellan.example/v2/models", { headers: { authorization: `Bearer ${key}` } }))

/** The world, its callers, and their keys. */
export const layer = Layer.effect(
  Shared,
  Effect.gen(function* () {
    const world = yield* World.make
    const outsiders = yield* Expectations.outsiders(world)
    const sessions = yield* world.sessions
    const made = new Map<string, string>()
    const keyWith = Effect.fnUntraced(function* (authority: Authority) {
      const name = String(authority)
      const known = made.get(name)
      if (known !== undefined) return known
      const key = yield* world.keyWith(authority)
      yield* use(key)
      yield* overlook(world.tenant.organizationId)
      made.set(name, key)
      return key
    })
    yield* Effect.forEach(Object.values(world.keys), use)
    yield* overlook(world.tenant.organizationId)
    return Shared.of({ world, outsiders, sessions, keyWith })
  })
)

/** Somebody who is known, in a world. */
export interface Caller {
  readonly who: string
  readonly expected: Expectations.Expectation
  readonly credential: (world: {
    readonly keys: World.World["keys"]
    readonly keyWith: Shared["Service"]["keyWith"]
  }) => Effect.Effect<string, never, Served.Parts | Served.Served | Shared | Witness>
}

/** Everybody who is known, with what the rule of an operation says about them. */
export const callersOf = (operation: Operation, rule: Rule): ReadonlyArray<Caller> => {
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
