/**
 * The operations of playbooks and of their runs, bound to their use cases.
 *
 * Source: api-v2.md "Playbooks"; decisions.md §6.
 */
import { Api } from "@castellan/api/Api"
import * as PlaybookRunWire from "@castellan/api/playbook/PlaybookRunWire"
import * as PlaybookWire from "@castellan/api/playbook/PlaybookWire"
import { toOffsetPage } from "@castellan/api/wire/PageWire"
import { PlaybookExecution } from "@castellan/core/playbook/PlaybookExecution"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as AnswerTime from "../answer/AnswerTime.ts"
import { AssetSignature } from "../asset/AssetSignature.ts"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of playbooks. */
export const layer = HttpApiBuilder.group(
  Api,
  "playbooks",
  Effect.fnUntraced(function* (handlers) {
    const playbooks = yield* Playbooks
    const execution = yield* PlaybookExecution
    const signature = yield* AssetSignature

    const sign = Effect.map(Clock.currentTimeMillis, signature.signer)

    return handlers.handleAll({
      create: () =>
        Effect.map(playbooks.create, PlaybookWire.ofPlaybook).pipe(declared("PermissionDenied", "Conflict")),

      list: Effect.fnUntraced(function* ({ query }) {
        return PlaybookWire.ofPlaybooks(yield* playbooks.list(PlaybookWire.toPlaybookQuery(query)))
      }, declared("PermissionDenied")),

      get: Effect.fnUntraced(
        function* ({ params, query }) {
          const view = yield* playbooks.get(params.id, toOffsetPage(query))
          const address = yield* sign
          return PlaybookWire.ofPlaybookView(view, ({ organizationId }) => (id) => {
            // A report shows as a picture only what has a PNG.
            const picture = { id, organizationId }
            return address(picture, "png")
          })
        },
        declared("PermissionDenied", "NotFound")
      ),

      update: Effect.fnUntraced(
        function* ({ params, payload }) {
          return PlaybookWire.ofPlaybook(yield* playbooks.update(params.id, PlaybookWire.toPlaybookPatch(payload)))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      delete: Effect.fnUntraced(
        function* ({ params }) {
          const { deletedAt, playbookId } = yield* playbooks.delete(params.id)
          return PlaybookWire.ofDeletion(playbookId, deletedAt)
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      deploy: Effect.fnUntraced(
        function* ({ params }) {
          const { deployedAt, playbookId } = yield* playbooks.deploy(params.id)
          return PlaybookWire.ofDeployment(playbookId, deployedAt)
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      undeploy: Effect.fnUntraced(
        function* ({ params }) {
          const { playbookId, undeployedAt } = yield* playbooks.undeploy(params.id)
          return PlaybookWire.ofUndeployment(playbookId, undeployedAt)
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      run: Effect.fnUntraced(function* ({ params, payload }) {
        if (payload?.dry_run === true) {
          yield* execution.validate(params.id)
          return { valid: true as const }
        }
        const result = yield* execution
          .run(params.id)
          .pipe(AnswerTime.within("the run did not end in time; it goes on"))
        return PlaybookRunWire.ofResult(result, yield* sign)
      }),

      listRuns: Effect.fnUntraced(
        function* ({ params, query }) {
          return PlaybookRunWire.ofPlaybookRuns(yield* execution.runs(params.id, toOffsetPage(query)))
        },
        declared("PermissionDenied", "NotFound")
      )
    })
  }, OperationServices.given)
)
