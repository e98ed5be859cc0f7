import { type Member, MemberStatus } from "@castellan/core/member/Member"
import { MemberEvent, type MemberFacts, transition } from "@castellan/core/member/MemberState"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Option, Result, Schema } from "effect"

const at = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
const { Active, Deactivated } = MemberStatus.cases
const { Assign, Deactivate, Delete, Reinvite, Unassign } = MemberEvent.cases

const scene = Effect.gen(function* () {
  const organization = yield* Sample.organizationId
  const [admin, analyst, other] = [
    yield* Sample.role(organization),
    yield* Sample.role(organization),
    yield* Sample.role(organization)
  ]
  const deactivated = Deactivated.make({ at: DateTime.makeUnsafe("2029-01-01T00:00:00.000Z") })
  const people = {
    admin: yield* Sample.member(organization, { roles: [admin, analyst] }),
    person: yield* Sample.member(organization, { roles: [analyst] }),
    formerAdmin: yield* Sample.member(organization, { roles: [admin, analyst], status: deactivated }),
    former: yield* Sample.member(organization, { roles: [analyst], status: deactivated })
  }
  return { people, admin: admin.id, analyst: analyst.id, other: other.id }
})
type Scene = Effect.Success<typeof scene>

/** The change of a member, `gone`, `same`, or why it is refused. */
type Expected = Partial<Pick<Member, "roles" | "status">> | "gone" | "same" | string

layer(layerCrypto)("MemberState", (it) => {
  const events: { readonly [name: string]: (given: Scene) => MemberEvent } = {
    reinvite: ({ other }) => Reinvite.make({ roles: [other, other] }),
    deactivate: () => Deactivate.make({}),
    delete: () => Delete.make({}),
    "assign analyst": ({ analyst }) => Assign.make({ role: analyst }),
    "assign other": ({ other }) => Assign.make({ role: other }),
    "unassign admin": ({ admin }) => Unassign.make({ role: admin }),
    "unassign analyst": ({ analyst }) => Unassign.make({ role: analyst }),
    "unassign other": ({ other }) => Unassign.make({ role: other })
  }
  const notHeld = "the member does not hold the role"
  const lastAdmin = "the member is the last admin of the organization"
  const gone = { status: Deactivated.make({ at }) }
  const table = (given: Scene): { readonly [person in keyof Scene["people"]]: ReadonlyArray<Expected> } => {
    const { admin, analyst, other } = given
    const back = { roles: [other], status: Active.make({}) }
    return {
      // reinvite, deactivate, delete, assign analyst, assign other, unassign admin, analyst, other
      admin: [
        "the member is active already",
        lastAdmin,
        lastAdmin,
        "same",
        { roles: [admin, analyst, other] },
        lastAdmin,
        { roles: [admin] },
        notHeld
      ],
      person: [
        "the member is active already",
        gone,
        "gone",
        "same",
        { roles: [analyst, other] },
        notHeld,
        { roles: [] },
        notHeld
      ],
      formerAdmin: [
        back,
        "the member is deactivated already",
        "gone",
        "the member is deactivated",
        "the member is deactivated",
        { roles: [analyst] },
        { roles: [admin] },
        notHeld
      ],
      former: [
        back,
        "the member is deactivated already",
        "gone",
        "the member is deactivated",
        "the member is deactivated",
        notHeld,
        { roles: [] },
        notHeld
      ]
    }
  }

  const told = (member: Member, outcome: ReturnType<typeof transition>): unknown => {
    if (Result.isFailure(outcome)) return outcome.failure.message
    if (Option.isNone(outcome.success)) return "gone"
    return outcome.success.value === member ? "same" : { ...outcome.success.value }
  }

  it.effect("answers every pair of state and event", () =>
    Effect.gen(function* () {
      const given = yield* scene
      const expectations = table(given)
      for (const [person, member] of [
        ["admin", given.people.admin],
        ["person", given.people.person],
        ["formerAdmin", given.people.formerAdmin],
        ["former", given.people.former]
      ] as const) {
        for (const [index, [name, event]] of Object.entries(events).entries()) {
          const expected = expectations[person][index]
          assert.deepStrictEqual(
            told(member, transition(member, event(given), { adminRole: given.admin, otherAdmins: 0 }, at)),
            typeof expected === "string" ? expected : { ...member, ...expected },
            `${person} ${name}`
          )
        }
      }
    })
  )

  it.effect("an admin who is not the last may go and give the role back", () =>
    Effect.gen(function* () {
      const { admin, analyst, people } = yield* scene
      const facts: MemberFacts = { adminRole: admin, otherAdmins: 1 }
      assert.deepStrictEqual(told(people.admin, transition(people.admin, Deactivate.make({}), facts, at)), {
        ...people.admin,
        ...gone
      })
      assert.strictEqual(told(people.admin, transition(people.admin, Delete.make({}), facts, at)), "gone")
      assert.deepStrictEqual(told(people.admin, transition(people.admin, Unassign.make({ role: admin }), facts, at)), {
        ...people.admin,
        roles: [analyst]
      })
    })
  )

  it.effect("an organization without the role admin has no last one", () =>
    Effect.gen(function* () {
      const { people } = yield* scene
      const facts: MemberFacts = { adminRole: undefined, otherAdmins: 0 }
      assert.strictEqual(told(people.admin, transition(people.admin, Delete.make({}), facts, at)), "gone")
    })
  )

  const Step = Schema.Struct({
    member: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 })),
    kind: Schema.Literals(["Reinvite", "Deactivate", "Delete", "Assign", "Unassign"]),
    admin: Schema.Boolean
  })

  it.effect.prop(
    "whatever happens, an organization that had an admin has one",
    [Schema.Array(Step)],
    ([steps]) =>
      Effect.gen(function* () {
        const { admin, other, people } = yield* scene
        const found: Array<Member | undefined> = [people.admin, people.person, people.former]
        const isAdmin = (one: Member | undefined): boolean =>
          one !== undefined && one.status._tag === "Active" && one.roles.includes(admin)
        for (const step of steps) {
          const member = found[step.member]
          if (member === undefined) continue
          const role = step.admin ? admin : other
          const event =
            step.kind === "Reinvite"
              ? Reinvite.make({ roles: [role] })
              : step.kind === "Assign"
                ? Assign.make({ role })
                : step.kind === "Unassign"
                  ? Unassign.make({ role })
                  : step.kind === "Delete"
                    ? Delete.make({})
                    : Deactivate.make({})
          const otherAdmins = found.filter((one) => one !== member && isAdmin(one)).length
          const outcome = transition(member, event, { adminRole: admin, otherAdmins }, at)
          if (Result.isSuccess(outcome)) found[step.member] = Option.getOrUndefined(outcome.success)
        }
        assert.isTrue(found.some(isAdmin))
      }),
    { arbitrary: { runs: 300 } }
  )
})
