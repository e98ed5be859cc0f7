import { fromParts, questionOfParts } from "@castellan/api/chat/AskRequest"
import * as UploadRequest from "@castellan/api/sandcastle/UploadRequest"
import { ConnectorId } from "@castellan/core/connector/Connector"
import { InvalidRequest } from "@castellan/core/error/Failure"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { HttpServerRequest, Multipart } from "effect/http"

/** The parts of a form as a server reads them. */
const partsOf = (form: FormData) =>
  Stream.unwrap(
    Effect.promise(async () => {
      const encoded = new Response(form)
      const headers = { "content-type": encoded.headers.get("content-type") ?? "" }
      const request = new Request("http://castellan.test", {
        method: "POST",
        headers,
        body: await encoded.arrayBuffer()
      })
      return HttpServerRequest.fromWeb(request).multipartStream
    })
  )

const questionWith = (...files: ReadonlyArray<readonly [string, string]>): FormData => {
  const form = new FormData()
  form.set("question", "What is in it?")
  for (const [name, text] of files) form.append("files", new File([text], name, { type: "text/csv" }))
  form.set("connector_ids", "[1]")
  return form
}

describe("a form with files", () => {
  it.effect("is the question, and its files in their order", () =>
    Effect.gen(function* () {
      const taken: Array<readonly [string, string]> = []
      const take = (file: Multipart.File) =>
        Effect.map(Stream.mkString(Stream.decodeText(file.content)), (text) => {
          taken.push([file.name, text])
        })
      const form = questionWith(["a.csv", "1,2"], ["b.csv", "3,4"])
      const request = yield* fromParts(partsOf(form), take)
      assert.deepStrictEqual(request, { question: "What is in it?", connector_ids: [ConnectorId.make(1)] })
      assert.deepStrictEqual(taken, [
        ["a.csv", "1,2"],
        ["b.csv", "3,4"]
      ])
    })
  )

  it.effect("has ten of them at most", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 11 }, (_, index) => [`${index}.csv`, "x"] as const)
      const taken: Array<string> = []
      const take = (file: Multipart.File) =>
        Effect.andThen(
          Stream.runDrain(file.content),
          Effect.sync(() => taken.push(file.name))
        )
      const error = yield* Effect.flip(fromParts(partsOf(questionWith(...names)), take))
      assert.deepStrictEqual(error, new InvalidRequest({ message: "files: must not be more than 10" }))
      assert.strictEqual(taken.length, 10)
      yield* fromParts(partsOf(questionWith(...names.slice(1))), take)
    })
  )

  it.effect("is a question with their contents, each of 25 MiB at most", () =>
    Effect.gen(function* () {
      const { files, ...question } = yield* questionOfParts(partsOf(questionWith(["a.csv", "1,2"], ["b.csv", ""])))
      assert.strictEqual(question.question, "What is in it?")
      assert.deepStrictEqual(
        files?.map(({ content, name }) => [name, new TextDecoder().decode(content)]),
        [
          ["a.csv", "1,2"],
          ["b.csv", ""]
        ]
      )
      assert.notProperty(yield* questionOfParts(partsOf(questionWith())), "files")
      const full = "x".repeat(25 * 1024 * 1024)
      yield* questionOfParts(partsOf(questionWith(["a.csv", full])))
      const error = yield* Effect.flip(questionOfParts(partsOf(questionWith(["a.csv", `${full}x`]))))
      assert.isTrue(Multipart.isMultipartError(error) && error.reason._tag === "FileTooLarge")
    })
  )

  it.effect("has fields of a megabyte together, and no more", () =>
    Effect.gen(function* () {
      const form = new FormData()
      form.set("question", "Why?")
      for (let index = 0; index < 3; index += 1) form.append(`unknown${index}`, "x".repeat(400_000))
      const error = yield* Effect.flip(questionOfParts(partsOf(form)))
      assert.isTrue(Multipart.isMultipartError(error))
      if (Multipart.isMultipartError(error)) assert.strictEqual(error.reason._tag, "BodyTooLarge")
    })
  )
})

describe("a file for a sandcastle", () => {
  const formOf = (...parts: ReadonlyArray<readonly [string, string | File]>): FormData => {
    const form = new FormData()
    for (const [name, value] of parts) form.append(name, value)
    return form
  }
  const csv = new File(["1,2"], "a.csv", { type: "text/csv" })

  it.effect.each<readonly [string, FormData, object]>([
    ["under its own name", formOf(["file", csv]), { name: "a.csv" }],
    ["under another", formOf(["path", "data/b.csv"], ["file", csv]), { name: "a.csv", path: "data/b.csv" }],
    ["beside parts that nobody knows", formOf(["note", "x"], ["file", csv], ["other", csv]), { name: "a.csv" }]
  ])("comes %s", ([, form, expected]) =>
    Effect.gen(function* () {
      const { content, ...rest } = yield* UploadRequest.fromParts(partsOf(form))
      assert.deepStrictEqual(rest, expected)
      assert.strictEqual(new TextDecoder().decode(content), "1,2")
    })
  )

  it.effect.each<readonly [string, FormData]>([
    ["file: is missing", formOf(["path", "b.csv"])],
    ["file: must be a file, not a text part", formOf(["file", "1,2"])],
    ["file: must be one file", formOf(["file", csv], ["file", csv])],
    ["path: must be a text part, not a file", formOf(["path", csv], ["file", csv])],
    ['path: must be a non-empty string of at most 1,024 characters, got ""', formOf(["path", ""], ["file", csv])]
  ])("is refused where it breaks a rule: %s", ([message, form]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(UploadRequest.fromParts(partsOf(form)))
      assert.deepStrictEqual(error, new InvalidRequest({ message }))
    })
  )
})
