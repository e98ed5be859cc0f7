import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Site from "../support/Site.ts"

const limits = { requestTimeout: Duration.millis(200), answerTimeout: Duration.millis(400) }

layer(Site.layer({ limits }), { timeout: "180 seconds", excludeTestServices: true })(
  "a body that does not come",
  (it) => {
    for (const [what, path, type] of [
      ["an operation", "/v2/api-keys", "application/json"],
      ["an operation that takes long", "/v2/chats", "application/json"],
      ["an operation that takes long, as a form", "/v2/chats", "multipart/form-data; boundary=b"],
      ["an upload", "/v2/sandcastles/none/files", "multipart/form-data; boundary=b"]
    ] as const) {
      for (const key of ["", "idempotency-key: k\r\n"]) {
        it.effect(`is not waited for without end: ${what}${key === "" ? "" : ", with a key"}`, () =>
          Effect.gen(function* () {
            const site = yield* Site.Site
            const answer = yield* Site.raw(
              `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${site.key}\r\ncontent-type: ${type}\r\n${key}` +
                "content-length: 100\r\nconnection: close\r\n\r\n"
            )
            // What is left of the body may cut the connection before the answer is read.
            assert.match(answer, /^(HTTP\/1\.1 504 |$)/)
          })
        )
      }
    }
  }
)
