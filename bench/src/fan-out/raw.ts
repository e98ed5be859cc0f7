/**
 * Fan-out on bare `node:http`: each frame is encoded once and written to every follower. Whoever comes late is sent
 * the frames that are there, one write each as a plain server would, or, below `/joined`, in one.
 */
import { createServer, type ServerResponse } from "node:http"
import { makeKeys } from "../server/Keys.ts"
import { listening } from "../server/NodeServing.ts"
import { commands, frames } from "./Script.ts"

interface Run {
  count: number
  readonly followers: Set<ServerResponse>
}

const keys = makeKeys()
const runs = new Map<string, Run>()

const runAt = (path: string): Run => {
  const run = runs.get(path)
  if (run === undefined) throw new Error(`no run at ${path}`)
  return run
}

const server = createServer((request, response) => {
  if (keys.holderOf(request.headers.authorization) === undefined) {
    response.writeHead(401).end()
    return
  }
  const [, path = "", manner] = /^(\/runs\/\d+)(\/joined)?$/.exec(request.url ?? "") ?? []
  const run = runs.get(path)
  if (run === undefined) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
  const there = frames.slice(0, run.count)
  if (manner === undefined) for (const frame of there) response.write(frame)
  else response.write(Buffer.concat(there))
  if (run.count === frames.length) {
    response.end()
    return
  }
  run.followers.add(response)
  response.on("close", () => run.followers.delete(response))
})

const open = (count: number): string => {
  const path = `/runs/${runs.size}`
  runs.set(path, { count, followers: new Set() })
  return path
}

/** One event a turn of the event loop. */
const play = (path: string): Promise<string> =>
  new Promise((resolve) => {
    const run = runAt(path)
    const tick = () => {
      const frame = frames[run.count]
      if (frame === undefined) {
        for (const follower of run.followers) follower.end()
        return resolve("")
      }
      run.count += 1
      for (const follower of run.followers) follower.write(frame)
      setImmediate(tick)
    }
    setImmediate(tick)
  })

listening(server, keys.bearer, {
  [commands.open]: () => open(1),
  [commands.play]: play,
  [commands.record]: () => open(frames.length)
})
