/** The read on Fastify as its users write it: a response schema, and a hook that authenticates. */
import Fastify from "fastify"
import { makeKeys } from "../server/Keys.ts"
import { serving } from "../server/Serving.ts"
import { models, path, refused } from "./Payload.ts"

const keys = makeKeys()
const server = Fastify()

server.addHook("onRequest", async (request, reply) => {
  if (keys.holderOf(request.headers.authorization) === undefined) await reply.code(401).send(refused)
})

const text = { type: "string" } as const
const flag = { type: "boolean" } as const
const model = {
  type: "object",
  properties: {
    id: text,
    model_id: { type: "integer" },
    provider: text,
    name: text,
    supports_fast_mode: flag,
    default: flag
  },
  required: ["id", "model_id", "provider", "name", "supports_fast_mode", "default"]
} as const
const response = {
  200: { type: "object", properties: { models: { type: "array", items: model } }, required: ["models"] }
} as const

server.get(path, { schema: { response } }, async () => ({ models }))

const address = new URL(await server.listen({ host: "127.0.0.1", port: 0 }))
serving(Number(address.port), keys.bearer)
