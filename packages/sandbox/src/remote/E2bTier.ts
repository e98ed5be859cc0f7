/**
 * A tier of sandboxes at E2B: each session has a microVM of its own, in which our supervisor runs under a relay.
 *
 * The supervisor is the one of every tier, so figures, tables and tracebacks are the same here as elsewhere. There is no
 * network out of the sandbox. Its user may become root in it: the wall is the machine, and all that comes out of it is
 * checked by the engine.
 */
import type { SandboxCapabilities, SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import type { Sandbox } from "@e2b/code-interpreter"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { SandboxProcess, SandboxTier } from "../session/SandboxProcess.ts"
import * as E2bChannel from "./E2bChannel.ts"
import type { Settings } from "./E2bOptions.ts"
import type { E2bSandboxes } from "./E2bSandboxes.ts"
import { bundle, unpack } from "./PythonBundle.ts"
import { call, patiently, ProviderFailure, whileOpen, whileOpening } from "./RemoteProvider.ts"

const home = "/sandbox/castellan"
const files = "/sandbox/files"
const socket = `${home}/session.sock`
const relay = `${home}/castellan_remote/relay.py`

const capabilities = (packages: ReadonlyArray<string>): SandboxCapabilities => ({
  isolation: "microvm",
  statefulPython: true,
  realBash: true,
  packages,
  gentleInterrupt: true,
  persistent: true,
  // What a sandbox may use is the machine that it is, but nothing counts the processes in it.
  limits: { cpu: "hard", memory: "hard", processes: "none", disk: "hard", network: "hard", time: "watchdog" }
})

/** Connections that may break one after another, each within a minute: beyond, somebody in the sandbox breaks them. */
const mostJoins = 10
const lasting = Duration.toMillis("1 minute")

/** How often the connection to a session broke lately. */
interface Joins {
  count: number
  /** Milliseconds since 1970. */
  last: number
}

/** The tier. */
export const make = Effect.fnUntraced(function* (
  settings: Settings,
  sandboxes: E2bSandboxes
): Effect.fn.Return<SandboxTier> {
  const sources = yield* Effect.cached(bundle)

  const run = (sandbox: Sandbox, command: string, user?: "root") =>
    call("command", settings.callTimeout, (signal) =>
      sandbox.commands.run(command, {
        cwd: "/",
        // Beyond the deadline of the call: for a command that goes on where nobody waits for it.
        timeoutMs: 2 * Duration.toMillis(settings.callTimeout),
        signal,
        ...(user === undefined ? {} : { user })
      })
    )

  /** Lays down what the session needs. That commands run at all is known once this is done. */
  const furnish = Effect.fnUntraced(function* (sandbox: Sandbox) {
    const { content, digest } = yield* sources
    const folders = `mkdir -p ${files} ${home} && chmod 0777 /sandbox ${files} ${home}`
    yield* patiently(run(sandbox, folders, "root"))
    const packed = `${home}/${digest}.json`
    const { stdout } = yield* patiently(run(sandbox, `test -f ${packed}.done && echo there || true`))
    if (stdout.includes("there")) return
    yield* patiently(call("upload", settings.callTimeout, (signal) => sandbox.files.write(packed, content, { signal })))
    yield* patiently(run(sandbox, `${settings.python} -I -c '${unpack}' ${packed} ${home} && touch ${packed}.done`))
  })

  /** Starts the relay where none runs. */
  const start = (sandbox: Sandbox) => {
    const serve = `${settings.python} -I ${relay} serve ${home}/castellan_supervisor.py ${files} ${socket}`
    const runs = `test -S ${socket} && kill -0 "$(cat ${socket}.pid)" 2>/dev/null`
    return patiently(run(sandbox, `{ ${runs}; } || (setsid ${serve} </dev/null >/dev/null 2>&1 &)`))
  }

  /** Fails where connections break too often: what joins them again costs, and none of them would last. */
  const joining = Effect.fnUntraced(function* (joins: Joins) {
    const now = yield* Clock.currentTimeMillis
    joins.count = now - joins.last < lasting ? joins.count + 1 : 1
    joins.last = now
    if (joins.count > mostJoins) {
      return yield* new ProviderFailure({ reason: "gone", detail: "channel: it breaks again and again" })
    }
  })

  const attach = Effect.fnUntraced(function* (
    sandbox: Sandbox,
    nonce: string,
    joins: Joins
  ): Effect.fn.Return<SandboxProcess, ProviderFailure | SandboxError, Scope.Scope> {
    const scope = yield* Effect.scope
    const program = `${settings.python} -I ${home}/castellan_remote/attach.py`
    const channel = yield* E2bChannel.attach(sandbox, settings, program, socket)
    yield* channel.send(Buffer.from(`${nonce}\n`))
    // Often only the connection broke, and the relay still has the session as it was. It ends what does not come to rest.
    const again = attach(sandbox, nonce, joins)
    const anew = run(sandbox, `${settings.python} -I ${relay} stop ${socket}`).pipe(
      Effect.andThen(start(sandbox)),
      Effect.andThen(again)
    )
    const replaceInterpreter = joining(joins).pipe(
      Effect.andThen(
        Effect.catch(Effect.andThen(start(sandbox), again), (failure) =>
          Effect.andThen(Effect.logWarning("A session's relay is replaced", sandbox.sandboxId, failure), anew)
        )
      ),
      Effect.catchTag("ProviderFailure", (failure) => whileOpen(Effect.fail(failure))),
      Scope.provide(scope)
    )
    return {
      resumed: channel.resumed,
      send: channel.send,
      output: channel.output,
      replaceInterpreter,
      memoryBytes: call("metrics", settings.callTimeout, (signal) => sandbox.getMetrics({ signal })).pipe(
        Effect.map((metrics) => metrics.at(-1)?.memUsed),
        Effect.catchTag("ProviderFailure", ({ detail }) =>
          Effect.as(Effect.logWarning("The memory of a sandbox is not known", detail), undefined)
        )
      )
    }
  })

  const launch: SandboxTier["launch"] = Effect.fnUntraced(function* (spec, nonce) {
    const obtain = spec.isNew === true ? sandboxes.make : sandboxes.obtain
    const sandbox = yield* Effect.acquireRelease(
      whileOpening(obtain(spec, randomUUID())),
      ({ sandboxId }) =>
        Effect.catchTag(sandboxes.end(sandboxId), "ProviderFailure", ({ detail }) =>
          Effect.logWarning("A sandbox is left to the end of its lease", detail)
        ),
      // A provider may take minutes; nobody has to wait for what is not wanted any more.
      { interruptible: true }
    )
    yield* sandboxes.renew(sandbox).pipe(
      Effect.catchTag("ProviderFailure", ({ detail }) =>
        Effect.logWarning("The lease of a sandbox was not renewed", detail)
      ),
      Effect.repeat(Schedule.spaced(Duration.times(settings.lease, 1 / 3))),
      Effect.forkScoped
    )
    yield* whileOpening(furnish(sandbox))
    yield* whileOpening(start(sandbox))
    return yield* attach(sandbox, nonce, { count: 0, last: 0 }).pipe(
      Effect.catchTag("ProviderFailure", (failure) => whileOpening(Effect.fail(failure)))
    )
  })

  return { capabilities: capabilities(settings.packages), launch }
})
