/**
 * A real browser, for pages that people look at: Chromium, told what to do over a pipe, in its own protocol, and kept
 * from every network but the loopback interface.
 *
 * Source: https://chromedevtools.github.io/devtools-protocol
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable, Writable } from "node:stream"
import { Effect, Schema } from "effect"
import type { Scope } from "effect"

/** The browser of this machine; undefined where it has none. */
export const program: string | undefined = ["chromium", "chromium-browser", "google-chrome"].find(
  (name) => spawnSync(name, ["--version"]).status === 0
)

/** What is to be said where a test needs the browser that is not there. */
export const missing: string | undefined =
  program === undefined ? "there is no Chromium on this machine (Debian's package is `chromium`)" : undefined

/** A page that is shown. */
export interface Page {
  /** Computes an expression in the page, waits for it where it is a promise, and answers it as JSON has it. */
  readonly evaluate: (expression: string) => Effect.Effect<unknown>
  /** What the page has asked for so far, the page itself first: addresses. */
  readonly requests: ReadonlyArray<string>
  /** What went wrong so far: exceptions that nobody caught, errors of the console, breaches of the page's policy. */
  readonly complaints: ReadonlyArray<string>
}

const Message = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.optionalKey(Schema.Int),
    method: Schema.optionalKey(Schema.String),
    params: Schema.optionalKey(Schema.Unknown),
    result: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.Struct({ message: Schema.String }))
  })
)
const decodeMessage = Schema.decodeUnknownSync(Message)

const text = Schema.String
const decode = {
  target: Schema.decodeUnknownSync(Schema.Struct({ targetId: text })),
  session: Schema.decodeUnknownSync(Schema.Struct({ sessionId: text })),
  request: Schema.decodeUnknownSync(Schema.Struct({ request: Schema.Struct({ url: text }) })),
  entry: Schema.decodeUnknownSync(Schema.Struct({ entry: Schema.Struct({ level: text, text }) })),
  thrown: Schema.decodeUnknownSync(Schema.Struct({ exceptionDetails: Schema.Unknown })),
  evaluated: Schema.decodeUnknownSync(
    Schema.Struct({
      result: Schema.Struct({ value: Schema.optionalKey(Schema.Unknown) }),
      exceptionDetails: Schema.optionalKey(Schema.Unknown)
    })
  )
}

/** Starts the browser; it ends with the scope, and leaves nothing. */
const start = Effect.acquireRelease(
  Effect.sync(() => {
    if (program === undefined) throw new Error(missing)
    const folder = mkdtempSync(join(tmpdir(), "castellan-browser-"))
    const child = spawn(
      program,
      [
        "--headless=new",
        "--remote-debugging-pipe",
        `--user-data-dir=${folder}`,
        "--no-first-run",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1400,1000",
        // Whatever is not the server under test cannot even be asked for the name of.
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        "--disable-background-networking",
        // Its own sandbox is not for root; it is shown pages of ours alone.
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        "about:blank"
      ],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] }
    )
    return { child, folder, ended: once(child, "exit") }
  }),
  ({ child, ended, folder }) =>
    Effect.promise(async () => {
      child.kill("SIGKILL")
      await ended
      // Its own processes end after it, and write to the last.
      rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
    })
)

/** Shows a page. */
export const open = Effect.fnUntraced(function* (url: string): Effect.fn.Return<Page, never, Scope.Scope> {
  const { child } = yield* start
  const [, , , commands, answers] = child.stdio
  if (!(commands instanceof Writable) || !(answers instanceof Readable)) return yield* Effect.die("no pipe")

  const requests: Array<string> = []
  const complaints: Array<string> = []
  const waiting = new Map<number, (answer: typeof Message.Type) => void>()
  const hear = ({ method, params }: typeof Message.Type) => {
    if (method === "Network.requestWillBeSent") requests.push(decode.request(params).request.url)
    if (method === "Runtime.exceptionThrown") complaints.push(JSON.stringify(decode.thrown(params).exceptionDetails))
    if (method === "Log.entryAdded") {
      const { entry } = decode.entry(params)
      if (entry.level === "error") complaints.push(entry.text)
    }
  }
  let begun = ""
  answers.setEncoding("utf8")
  answers.on("data", (piece: string) => {
    const [last = "", ...whole] = (begun + piece).split("\0").toReversed()
    begun = last
    for (const one of whole.toReversed()) {
      const message = decodeMessage(one)
      if (message.id === undefined) hear(message)
      else waiting.get(message.id)?.(message)
    }
  })

  let number = 0
  const send = (method: string, params: object, sessionId?: string): Effect.Effect<unknown> =>
    Effect.callback((resume) => {
      const id = ++number
      waiting.set(id, ({ error, result }) => {
        waiting.delete(id)
        resume(error === undefined ? Effect.succeed(result) : Effect.die(new Error(`${method}: ${error.message}`)))
      })
      commands.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    })

  const { targetId } = decode.target(yield* send("Target.createTarget", { url: "about:blank" }))
  const { sessionId } = decode.session(yield* send("Target.attachToTarget", { targetId, flatten: true }))
  for (const domain of ["Network", "Runtime", "Log", "Page"]) yield* send(`${domain}.enable`, {}, sessionId)
  yield* send("Page.navigate", { url }, sessionId)
  return {
    requests,
    complaints,
    evaluate: Effect.fnUntraced(function* (expression) {
      const { exceptionDetails, result } = decode.evaluated(
        yield* send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId)
      )
      return exceptionDetails === undefined
        ? result.value
        : yield* Effect.die(new Error(JSON.stringify(exceptionDetails)))
    })
  }
})
