/**
 * A question on bare `node:http`: the body is read and parsed, the first event is written at once, and the answer in
 * the next turn of the event loop.
 */
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { makeKeys } from "../server/Keys.ts"
import { listening } from "../server/NodeServing.ts"
import { answer } from "./Script.ts"

const keys = makeKeys()

const frame = (id: number, event: unknown): string => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`

const isQuestion = (value: unknown): value is { readonly question: string } =>
  typeof value === "object" && value !== null && "question" in value && typeof value.question === "string"

const server = createServer((request, response) => {
  const pieces: Array<Buffer> = []
  request.on("data", (piece) => pieces.push(piece))
  request.on("end", () => {
    const body: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"))
    if (keys.holderOf(request.headers.authorization) === undefined || !isQuestion(body)) {
      response.writeHead(400).end()
      return
    }
    const now = new Date().toISOString()
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
    response.write(
      frame(1, {
        type: "metadata",
        id: randomUUID(),
        created_at: now,
        model: "scripted/model-1",
        chat_id: randomUUID(),
        is_continuation: false
      })
    )
    setImmediate(() => {
      response.write(frame(2, { type: "text", text: answer }))
      response.end(frame(3, { type: "done", status: "completed" }))
    })
  })
})

listening(server, keys.bearer)
