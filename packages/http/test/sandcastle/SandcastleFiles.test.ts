import { request } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { code, json, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"

const started = Effect.map(json("POST", "/v2/sandcastles"), ({ body }) => `/v2/sandcastles/${body.sandbox_id}`)

const boundary = "----castellan"

interface Part {
  readonly name: string
  readonly filename?: string
  readonly content: string | Uint8Array
}

/** A form, as browsers write it. */
const form = (...parts: ReadonlyArray<Part>): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ content, filename, name }) => [
      Buffer.from(
        `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${
          filename === undefined ? "" : `; filename="${filename}"\r\ncontent-type: application/octet-stream`
        }\r\n\r\n`
      ),
      Buffer.from(content),
      Buffer.from("\r\n")
    ]),
    Buffer.from(`--${boundary}--\r\n`)
  ])

const contentType = `multipart/form-data; boundary=${boundary}`

const upload = (path: string, ...parts: ReadonlyArray<Part>) =>
  Effect.map(
    Site.call(`${path}/files`, { method: "POST", headers: { "content-type": contentType }, body: form(...parts) }),
    (reply) => ({ status: reply.status, body: JSON.parse(reply.text) })
  )

const file = (filename: string, content: string | Uint8Array = "a,b\n1,2\n"): Part => ({
  name: "file",
  filename,
  content
})

const download = (path: string, name: string) => Site.call(`${path}/files/${encodeURIComponent(name)}`)

layer(Site.layer({ http: { publicUrl: "https://example.org/analytics/" } }), {
  timeout: "180 seconds",
  excludeTestServices: true
})("files of sandcastles over HTTP", (it) => {
  it.effect("a file goes to the uploads by its own name, into a folder, or where it is told; its bytes come back", () =>
    Effect.gen(function* () {
      const path = yield* started
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
      const plain = yield* upload(path, file("data.csv", bytes))
      assert.deepStrictEqual(plain, {
        status: 201,
        body: { name: "data.csv", path: "uploads/data.csv", type: "file", size: 256 }
      })
      const inFolder = yield* upload(path, { name: "path", content: "in/deep/" }, file("data.csv"))
      assert.strictEqual(inFolder.body.path, "in/deep/data.csv")
      const named = yield* upload(path, file("data.csv"), { name: "path", content: "in/other.csv" })
      assert.strictEqual(named.body.path, "in/other.csv")

      assert.deepStrictEqual((yield* json("GET", `${path}/files`)).body.files, [
        { name: "in", path: "in", type: "directory", size: 0 },
        { name: "uploads", path: "uploads", type: "directory", size: 0 }
      ])
      assert.deepStrictEqual((yield* json("GET", `${path}/files?path=in`)).body.files, [
        { name: "deep", path: "in/deep", type: "directory", size: 0 },
        { name: "other.csv", path: "in/other.csv", type: "file", size: 8 }
      ])

      const reply = yield* download(path, "uploads/data.csv")
      assert.strictEqual(reply.status, 200)
      assert.deepStrictEqual(new Uint8Array(reply.body), bytes)
      assert.strictEqual(reply.headers["content-type"], "application/octet-stream")
      assert.strictEqual(reply.headers["content-disposition"], 'attachment; filename="data.csv"')
      assert.strictEqual(reply.headers["x-content-type-options"], "nosniff")

      const address = `${path}/files/${encodeURIComponent("uploads/data.csv")}`
      assert.deepStrictEqual(yield* json("DELETE", address), { status: 200, body: { success: true } })
      yield* refusal(code.notFound, "GET", address)
      yield* refusal(code.notFound, "DELETE", address)
    })
  )

  it.effect("slashes of a path are written as they are or as %2F", () =>
    Effect.gen(function* () {
      const path = yield* started
      yield* upload(path, file("data.csv"), { name: "path", content: "in/deep/" })
      yield* upload(path, file("data.csv", "x"), { name: "path", content: "in/a%2fb 100%.csv" })
      for (const address of ["in/deep/data.csv", "in%2Fdeep%2Fdata.csv", "in%2fdeep/data.csv?a=/b"]) {
        const reply = yield* Site.call(`${path}/files/${address}`)
        assert.deepStrictEqual([reply.status, reply.text], [200, "a,b\n1,2\n"], address)
        assert.strictEqual(reply.headers["content-disposition"], 'attachment; filename="data.csv"')
      }
      // What is encoded is decoded once: a name with a percent sign is itself.
      assert.strictEqual((yield* Site.call(`${path}/files/in/a%252fb%20100%25.csv`)).text, "x")
      yield* refusal(code.notFound, "GET", `${path}/files/in/a%2fb%20100%25.csv`)
      assert.match(yield* refusal(code.invalid, "DELETE", `${path}/files/in/.hidden`), /^path: /)
      const wrong = yield* Site.call(`${path}/files/in/deep/data.csv`, { method: "PUT" })
      assert.deepStrictEqual([wrong.status, wrong.headers["allow"]], [405, "DELETE, GET, HEAD, OPTIONS"])
      // An address without a path is the folder's.
      const folder = yield* Site.call(`${path}/files/`, { method: "DELETE" })
      assert.deepStrictEqual([folder.status, folder.headers["allow"]], [405, "GET, HEAD, OPTIONS, POST"])
      assert.deepStrictEqual(yield* json("DELETE", `${path}/files/in/deep/data.csv`), {
        status: 200,
        body: { success: true }
      })
      yield* refusal(code.notFound, "GET", `${path}/files/in/deep/data.csv`)
    })
  )

  it.effect("a name beyond ASCII comes back in full, and none gets out of its header", () =>
    Effect.gen(function* () {
      const path = yield* started
      for (const name of ["Umsätze für Zoë (1)'.csv", "50% off.txt", "☃.csv"]) {
        assert.strictEqual((yield* upload(path, file(name))).status, 201, name)
        const { headers, status } = yield* download(path, `uploads/${name}`)
        assert.strictEqual(status, 200, name)
        const encoded = /filename\*=UTF-8''([A-Za-z0-9%!#$&+.^_`|~-]+)$/u.exec(
          headers["content-disposition"] ?? ""
        )?.[1]
        assert.strictEqual(decodeURIComponent(encoded ?? ""), name)
      }
    })
  )

  it.effect("a file that a program writes is named with an address, at which it can be fetched", () =>
    Effect.gen(function* () {
      const path = yield* started
      const { body } = yield* json("POST", `${path}/execute`, { code: 'open("out/sales.csv", "w").write("a,b")' })
      const [made] = body.files
      assert.deepInclude(made, { name: "sales.csv", mime_type: "text/csv" })
      const prefix = "https://example.org/analytics"
      assert.isTrue(made.url.startsWith(`${prefix}${path}/files/`), made.url)
      assert.strictEqual((yield* Site.call(made.url.slice(prefix.length))).text, "a,b")
      assert.strictEqual((yield* Site.call(made.url.slice(prefix.length), { key: "" })).status, 401)
    })
  )

  it.effect("what would leave the folder, or hide in it, is refused, however it is written", () =>
    Effect.gen(function* () {
      const path = yield* started
      for (const bad of ["../secret", "a/../../b", "/etc/passwd", ".env", "a/.git/config", "a//b", "a\0b"]) {
        const address = `${path}/files/${encodeURIComponent(bad)}`
        assert.match(yield* refusal(code.invalid, "GET", address), /^path: /, bad)
        assert.match(yield* refusal(code.invalid, "DELETE", address), /^path: /, bad)
        const listed = `${path}/files?path=${encodeURIComponent(bad)}`
        assert.match(yield* refusal(code.invalid, "GET", listed), /^path: /, bad)
        const sent = yield* upload(path, { name: "path", content: bad }, file("data.csv"))
        assert.deepStrictEqual([sent.status, sent.body.error.code], [400, "invalid_request"], bad)
      }
      for (const name of [".env", ".."]) {
        const sent = yield* upload(path, file(name))
        assert.deepStrictEqual([sent.status, sent.body.error.code], [400, "invalid_request"], name)
      }
      assert.deepStrictEqual((yield* json("GET", `${path}/files`)).body.files, [])
    })
  )

  it.effect("a form that brings no file, two files or something else is refused by the name of its part", () =>
    Effect.gen(function* () {
      const path = yield* started
      const refused: ReadonlyArray<readonly [ReadonlyArray<Part>, string]> = [
        [[], "file: is missing"],
        [[{ name: "file", content: "text" }], "file: must be a file, not a text part"],
        [[file("a.csv"), file("b.csv")], "file: must be one file"],
        [
          [{ name: "path", content: "in/" }, { name: "path", content: "out/" }, file("a.csv")],
          "path: must be one text part"
        ],
        [[{ name: "path", filename: "p", content: "in/" }, file("a.csv")], "path: must be a text part, not a file"]
      ]
      for (const [parts, message] of refused) {
        const sent = yield* upload(path, ...parts)
        assert.deepStrictEqual(sent, { status: 400, body: { error: { code: "invalid_request", message } } })
      }
      const unbounded = yield* Site.call(`${path}/files`, {
        method: "POST",
        headers: { "content-type": "multipart/form-data" },
        body: "nothing"
      })
      assert.deepStrictEqual([unbounded.status, Site.envelopeOf(unbounded).code], [400, "invalid_request"])
      const json415 = yield* Site.post(`${path}/files`, { file: "x" })
      assert.deepStrictEqual([json415.status, Site.envelopeOf(json415).code], [415, "invalid_request"])
    })
  )

  it.effect("a file may have 25 MiB, more than any other body, and not a byte more", () =>
    Effect.gen(function* () {
      const path = yield* started
      const largest = new Uint8Array(25 * 1024 * 1024)
      assert.strictEqual((yield* upload(path, file("large.bin", largest))).status, 201)
      assert.strictEqual((yield* download(path, "uploads/large.bin")).body.length, largest.length)
      const tooLarge = yield* upload(path, file("larger.bin", new Uint8Array(largest.length + 1)))
      assert.deepStrictEqual([tooLarge.status, tooLarge.body.error.code], [413, "invalid_request"])
      const body = yield* Site.post(`${path}/execute`, { code: "#".repeat(2 * 1024 * 1024) })
      assert.deepStrictEqual([body.status, Site.envelopeOf(body).code], [413, "invalid_request"])
    })
  )

  it.effect("whoever asks first is told to send a file that is larger than other bodies", () =>
    Effect.gen(function* () {
      const path = yield* started
      const { key, port } = yield* Site.Site
      const body = form(file("large.bin", new Uint8Array(3 * 1024 * 1024)))
      const status = yield* Effect.callback<number>((resume) => {
        const sent = request(
          {
            host: "127.0.0.1",
            port,
            path: `${path}/files`,
            method: "POST",
            headers: {
              authorization: `Bearer ${key}`,
              expect: "100-continue",
              "content-type": contentType,
              "content-length": body.length
            }
          },
          (response) => {
            response.resume()
            resume(Effect.succeed(response.statusCode ?? 0))
          }
        )
        sent.on("continue", () => sent.end(body))
        sent.on("error", (error) => resume(Effect.die(error)))
        return Effect.sync(() => sent.destroy())
      })
      assert.strictEqual(status, 201)
    })
  )
})
