/** The read on bare `node:http`: the least that this work can cost in Node. */
import { createServer } from "node:http"
import { makeKeys } from "../server/Keys.ts"
import { listening } from "../server/NodeServing.ts"
import { models, path, refused } from "./Payload.ts"

const keys = makeKeys()

const server = createServer((request, response) => {
  const holder = keys.holderOf(request.headers.authorization)
  const [status, answer] =
    holder === undefined ? [401, refused] : request.url === path ? [200, { models }] : [404, refused]
  const body = JSON.stringify(answer)
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
  response.end(body)
})

listening(server, keys.bearer)
