/**
 * The operations of sandcastles, bound to their use cases: their life, what runs in them, their files, and what becomes
 * of their edits of the library.
 *
 * Source: api-v2.md "Sandcastles", "Library change result"; decisions.md §7.
 */
import { Api } from "@castellan/api/Api"
import * as LibraryChangeWire from "@castellan/api/change/LibraryChangeWire"
import * as ExecutionWire from "@castellan/api/sandcastle/ExecutionWire"
import * as SandcastleFileWire from "@castellan/api/sandcastle/SandcastleFileWire"
import * as SandcastleWire from "@castellan/api/sandcastle/SandcastleWire"
import * as UploadRequest from "@castellan/api/sandcastle/UploadRequest"
import { success } from "@castellan/api/wire/Outcome"
import type { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import type { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as AnswerTime from "../answer/AnswerTime.ts"
import { PageTokens } from "../page/PageTokens.ts"
import { PublicUrl } from "../PublicUrl.ts"
import { declared } from "../request/DeclaredFailures.ts"
import * as DownloadResponse from "./DownloadResponse.ts"
import * as OperationServices from "../request/OperationServices.ts"

const inTime = AnswerTime.within("the execution did not end in time; it was interrupted")

/** The operations of sandcastles. */
export const layer = HttpApiBuilder.group(
  Api,
  "sandcastles",
  Effect.fnUntraced(function* (handlers) {
    const sandcastles = yield* Sandcastles
    const tokens = yield* PageTokens
    const listed = tokens.of("sandcastles")
    const ran = tokens.of("executions")
    const publicUrl = yield* PublicUrl

    const addressOf = (id: SandcastleId) => (path: SandboxPath) =>
      `${publicUrl}/v2/sandcastles/${id}/files/${encodeURIComponent(path)}`

    return handlers.handleAll({
      start: Effect.fnUntraced(
        function* ({ payload }) {
          const id = payload?.sandbox_id
          return SandcastleWire.ofStarted(yield* sandcastles.start(id === undefined ? {} : { id }))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      list: Effect.fnUntraced(
        function* ({ query }) {
          const page = yield* listed.cursorPage(query)
          const found = yield* sandcastles.list({ ...page, status: query.status ?? "running" })
          return SandcastleWire.ofSandcastles(found, listed.seal)
        },
        declared("InvalidRequest", "PermissionDenied")
      ),

      get: Effect.fnUntraced(
        function* ({ params }) {
          return SandcastleWire.ofStatus(yield* sandcastles.get(params.id))
        },
        declared("PermissionDenied", "NotFound")
      ),

      stop: Effect.fnUntraced(
        function* ({ params }) {
          yield* sandcastles.stop(params.id)
          return success
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      execute: Effect.fnUntraced(function* ({ params, payload }) {
        const answer = yield* inTime(sandcastles.execute(params.id, { code: payload.code, source: "platform_api" }))
        return ExecutionWire.ofExecuteAnswer(answer, addressOf(params.id))
      }),

      exec: Effect.fnUntraced(function* ({ params, payload }) {
        const { command, env, kind } = payload
        const request = {
          command,
          kind,
          source: "platform_api",
          ...(env === undefined ? {} : { environment: env })
        } as const
        return ExecutionWire.ofExecAnswer(yield* inTime(sandcastles.exec(params.id, request)))
      }),

      query: Effect.fnUntraced(function* ({ params, payload }) {
        return ExecutionWire.ofQueryAnswer(yield* inTime(sandcastles.query(params.id, ExecutionWire.toQuery(payload))))
      }),

      interrupt: Effect.fnUntraced(
        function* ({ params }) {
          yield* sandcastles.interrupt(params.id)
          return success
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      listFiles: Effect.fnUntraced(
        function* ({ params, query }) {
          return SandcastleFileWire.ofEntries(yield* sandcastles.listFiles(params.id, query.path))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      uploadFile: Effect.fnUntraced(
        function* ({ params, payload }) {
          // A form that cannot be read is the boundary's to answer.
          const file = yield* Effect.catchTag(UploadRequest.fromParts(payload), "MultipartError", Effect.die)
          const path = yield* sandcastles
            .upload(params.id, file)
            .pipe(AnswerTime.within("the file did not reach the sandcastle in time"))
          return SandcastleFileWire.ofEntry({ path, kind: "file", size: file.content.length })
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict", "ExecutionFailed")
      ),

      downloadFile: Effect.fnUntraced(
        function* ({ params }) {
          return DownloadResponse.make(yield* sandcastles.download(params.id, params.path))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      deleteFile: Effect.fnUntraced(
        function* ({ params }) {
          yield* sandcastles.removeFile(params.id, params.path)
          return success
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      executions: Effect.fnUntraced(
        function* ({ params, query }) {
          const page = yield* ran.cursorPage(query)
          return ExecutionWire.ofExecutions(yield* sandcastles.executions(params.id, page), ran.seal)
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound")
      ),

      libraryDiff: Effect.fnUntraced(
        function* ({ params }) {
          return LibraryChangeWire.ofLibraryDiff(yield* sandcastles.libraryDiff(params.id))
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      createLibraryChange: Effect.fnUntraced(
        function* ({ params, payload }) {
          const { change_number: changeNumber, description, draft = false, title } = payload
          const proposed = yield* sandcastles.proposeLibraryChange(params.id, {
            draft,
            ...(title === undefined ? {} : { title }),
            ...(description === undefined ? {} : { description }),
            ...(changeNumber === undefined ? {} : { changeNumber })
          })
          return LibraryChangeWire.ofLibraryChange(proposed)
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      )
    })
  }, OperationServices.given)
)
