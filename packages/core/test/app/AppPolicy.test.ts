import { creatorOf } from "@castellan/core/access/Access"
import * as AppPolicy from "@castellan/core/app/AppPolicy"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"

layer(layerCrypto)("AppPolicy", (it) => {
  it.effect("says what it rested on", () =>
    Effect.gen(function* () {
      const organizationId = yield* Sample.organizationId
      const role = yield* Sample.role(organizationId, { permissions: ["app:read"] })
      const north = yield* Sample.principal(organizationId, {
        roles: [role],
        clientMetadata: { text: '{"region":"north"}', attributes: { region: "north" } }
      })
      const reader = yield* Sample.principal(organizationId, { roles: [role] })
      const app = { access: Sample.everyone, chatCreator: creatorOf(north) }
      const decide = (principal: typeof north, action: AppPolicy.AppAction) =>
        AppPolicy.may(principal, action, app, DateTime.makeUnsafe(0))
      assert.deepInclude(decide(reader, "read"), {
        _tag: "Deny",
        reason: "hidden",
        message: "app not found",
        facts: { rows: "of another end user" }
      })
      assert.deepInclude(decide(north, "read"), { _tag: "Allow", reason: "access" })
      assert.deepInclude(decide(north, "update"), { _tag: "Deny", reason: "permission" })
      assert.deepInclude(decide(north, "delete"), { _tag: "Deny", reason: "permission" })
    })
  )
})
