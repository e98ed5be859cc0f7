/** The read on Hono, over its server for Node. */
import { serve } from "@hono/node-server"
import { Hono } from "hono"
import { makeKeys } from "../server/Keys.ts"
import { serving } from "../server/Serving.ts"
import { models, path, refused } from "./Payload.ts"

const keys = makeKeys()
const app = new Hono()

app.use(async (context, next) => {
  if (keys.holderOf(context.req.header("authorization")) === undefined) return context.json(refused, 401)
  return next()
})

app.get(path, (context) => context.json({ models }))

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => serving(port, keys.bearer))
