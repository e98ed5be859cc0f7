/**
 * A file that is put into a sandcastle, as a form.
 *
 * Source: decisions.md §7 (`POST …/{id}/files`).
 */
import { InvalidRequest } from "@castellan/core/error/Failure"
import type { UploadRequest } from "@castellan/core/sandcastle/SandcastleFiles"
import * as Effect from "effect/Effect"
import * as Multipart from "effect/http/Multipart"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as InvalidRequestMessage from "../error/InvalidRequestMessage.ts"
import { asFormWith, maximumFileBytes } from "../wire/BytesWire.ts"
import { boundedText } from "../wire/WireValue.ts"

const fields = {
  path: Schema.optionalKey(
    boundedText(
      { minimum: 1, maximum: 1_024 },
      "Where the file goes, below `/sandbox/files`; one that ends in a slash is the folder that it goes into. Absent, `uploads/`"
    )
  )
}

/** A form that brings a file. It reaches a handler as the stream of its parts: see `fromParts`. */
export const UploadForm = Schema.Struct({
  ...fields,
  file: Schema.String.annotate({ format: "binary", description: "The file, at most 25 MiB" })
})
  .annotate({ identifier: "UploadForm", description: "A file, and where it goes" })
  .pipe(asFormWith(1))

const decodeFields = Schema.decodeUnknownEffect(Schema.Struct(fields), { reportInput: true })

const refuse = (message: string) => Effect.fail(new InvalidRequest({ message }))

/** Reads a form to the file that it brings. Parts that are not known are ignored. */
export const fromParts = (
  parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>
): Effect.Effect<UploadRequest, InvalidRequest | Multipart.MultipartError> =>
  Effect.gen(function* () {
    const texts = new Map<string, string>()
    let file: { readonly name: string; readonly content: Uint8Array } | undefined
    yield* Stream.runForEach(parts, (part): Effect.Effect<void, InvalidRequest | Multipart.MultipartError> => {
      if (part._tag === "Field") {
        if (part.key === "file") return refuse("file: must be a file, not a text part")
        // Which of two was meant cannot be told.
        if (texts.has(part.key) && Object.hasOwn(fields, part.key)) return refuse(`${part.key}: must be one text part`)
        texts.set(part.key, part.value)
        return Effect.void
      }
      if (Object.hasOwn(fields, part.key)) return refuse(`${part.key}: must be a text part, not a file`)
      if (part.key !== "file") return Stream.runDrain(part.content)
      if (file !== undefined) return refuse("file: must be one file")
      return Effect.flatMap(part.contentEffect, (content) => {
        if (content.length > maximumFileBytes) return Effect.fail(Multipart.MultipartError.fromReason("FileTooLarge"))
        file = { name: part.name, content }
        return Effect.void
      })
    })
    const { path } = yield* Effect.mapError(
      decodeFields(Object.fromEntries(texts)),
      (error) => new InvalidRequest({ message: InvalidRequestMessage.format(error.issue) })
    )
    if (file === undefined) return yield* refuse("file: is missing")
    return { ...file, ...(path === undefined ? {} : { path }) }
  })
