/**
 * The Linux tier: sessions are forks of a fork-server inside of bubblewrap, each behind walls of its own.
 *
 * It starts only where its self-test passes, and says what keeps it from starting elsewhere.
 */
import { SandboxError, type SandboxCapabilities } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SandboxProcess, SandboxTier } from "../../session/SandboxProcess.ts"
import type { LinuxLimits } from "../LinuxLimits.ts"
import { noOtherUser, type SystemFacts, whyItEnded, whyNotOpened } from "../LinuxRemedies.ts"
import { LinuxUnavailable } from "../LinuxUnavailable.ts"
import * as ControlGroups from "./ControlGroups.ts"
import * as ForkServer from "./ForkServer.ts"
import type { ProcessUser } from "./ForkServerHandle.ts"
import * as ForkServers from "./ForkServers.ts"
import * as Host from "./Host.ts"
import { builtRoot, type ChosenRoot, hostRoot } from "./OuterRoots.ts"
import { outerArguments, outerCommand } from "./OuterSandbox.ts"
import * as PrivateFolder from "./PrivateFolder.ts"
import * as SelfTest from "./SelfTest.ts"
import * as SessionBytes from "./SessionBytes.ts"
import { assemble, instructions } from "./SystemCallFilter.ts"

/** What a tier is made with. */
export interface TierOptions {
  readonly limits: LinuxLimits
  readonly root: string | undefined
  readonly python: string | undefined
  readonly bubblewrap: string | undefined
  readonly user: ProcessUser | undefined
  readonly controlGroup: string | undefined
  readonly folder: string | undefined
  readonly sessionsPerServer: number
}

const detailOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const noFolder = (error: unknown): LinuxUnavailable =>
  new LinuxUnavailable({
    promise: "platform",
    message: `the private folder cannot be made: ${detailOf(error)}`,
    remedy: "give a folder that the host can write to, and that others can pass through"
  })

/** Sessions do not outlive their tier, and none begins after it. */
const closed = new LinuxUnavailable({
  promise: "platform",
  message: "the sandboxes of this host are closed",
  remedy: ""
})

const chooseRoot = ({ python, root }: TierOptions, folder: string): Effect.Effect<ChosenRoot, LinuxUnavailable> =>
  Effect.tryPromise({
    try: () => (root === undefined ? hostRoot(folder, python ?? "/usr/bin/python3") : builtRoot(root)),
    catch: (error) =>
      new LinuxUnavailable({
        promise: "python",
        message: `the root cannot be used: ${detailOf(error)}`,
        remedy: "build one: npx castellan-sandbox-root --folder <folder> <package>…"
      })
  })

/** What one fork-server after another is started from. */
interface Setting {
  readonly options: TierOptions
  readonly bubblewrap: string
  readonly user: ProcessUser | undefined
  readonly facts: SystemFacts
  readonly socketBytes: number
  readonly folder: string
  readonly chosen: ChosenRoot
  readonly controlGroups: ControlGroups.ControlGroups | undefined
}

const explain = ({ facts, user }: Setting, errors: string): LinuxUnavailable =>
  user !== undefined && /spawn .*(EPERM|EINVAL)/.test(errors)
    ? noOtherUser(`the host is root, and cannot become user ${user.uid}: ${errors.trim()}`)
    : whyItEnded(errors, facts)

/** Starts a fork-server, and has it pass the self-test. */
const startServer = Effect.fnUntraced(function* (
  setting: Setting
): Effect.fn.Return<ForkServer.ForkServer, LinuxUnavailable, Scope.Scope> {
  const { bubblewrap, chosen, controlGroups, facts, folder, socketBytes, user } = setting
  const listen = yield* PrivateFolder.makeListenFolder(folder, user).pipe(Effect.mapError(noFolder))
  const { python, root } = chosen
  const sandbox = { root, folder, listen, python, controlGroup: controlGroups?.path, socketBytes }
  const given = { bubblewrap, options: outerArguments(sandbox), command: outerCommand(sandbox), user }
  const server = yield* ForkServer.start(given, join(listen, "socket")).pipe(
    Effect.mapError((errors) => explain(setting, errors))
  )
  if (controlGroups !== undefined && server.pid !== undefined) yield* controlGroups.adopt(server.pid)
  yield* SelfTest.run({ server, controlGroups, facts, hidden: SelfTest.hiddenPaths(folder, chosen.names) })
  return server
})

const lost = (message: string): SandboxError => new SandboxError({ reason: "lost", message })

const sandboxProcess = (
  { channel, goneInTime, memory }: ForkServer.OpenedSession,
  limits: LinuxLimits,
  group: ControlGroups.ControlGroup | undefined
): SandboxProcess => {
  /** Whoever finds the session gone is told why, which the fork-server says with its end, or the system of its group. */
  const over = Effect.gen(function* () {
    const wasKilled = (yield* goneInTime) || (group !== undefined && (yield* group.wasOutOfMemory))
    return yield* lost(wasKilled ? "the sandbox held more memory than it may, and was ended" : "the sandbox has ended")
  })
  const told = Effect.tapError(over, ({ message }) =>
    Effect.logWarning("a session is gone", { reason: message, memoryLimit: limits.memory })
  )
  return {
    send: (frame) => Effect.flatMap(SessionBytes.write(channel, frame), (isSent) => (isSent ? Effect.void : over)),
    output: Stream.concat(SessionBytes.read(channel), Stream.fromEffectDrain(told)),
    // The supervisor is the first process of the session: without it, nothing of the session is left.
    replaceInterpreter: Effect.fail(lost("the sandbox did not answer, and was ended")),
    memoryBytes: group?.memory ?? memory
  }
}

const capabilitiesOf = (packages: ReadonlyArray<string>, hasControlGroups: boolean): SandboxCapabilities => ({
  isolation: "namespaces",
  statefulPython: true,
  realBash: true,
  packages,
  gentleInterrupt: true,
  persistent: false,
  limits: {
    cpu: hasControlGroups ? "hard" : "watchdog",
    memory: hasControlGroups ? "hard" : "watchdog",
    processes: "hard",
    disk: "hard",
    network: "hard",
    time: "watchdog"
  }
})

/** Makes a tier of this host; every session ends with the scope. */
export const make = Effect.fnUntraced(function* (
  options: TierOptions
): Effect.fn.Return<SandboxTier, LinuxUnavailable, Scope.Scope> {
  const architecture = yield* Host.architecture
  const bubblewrap = yield* Host.findBubblewrap(options.bubblewrap)
  const user = yield* Host.chooseUser(options.user)
  const facts = yield* Host.facts
  const filter = assemble(instructions(architecture))
  const folder = yield* PrivateFolder.make(options.folder ?? tmpdir(), filter, user).pipe(Effect.mapError(noFolder))
  const chosen = yield* chooseRoot(options, folder)
  const controlGroups =
    options.controlGroup === undefined ? undefined : yield* ControlGroups.make(options.controlGroup, user)
  const socketBytes = yield* Host.socketBytes
  const setting: Setting = { options, bubblewrap, user, facts, socketBytes, folder, chosen, controlGroups }
  let isClosed = false
  const start = Effect.suspend(() => (isClosed ? Effect.fail(closed) : startServer(setting)))
  const servers = yield* ForkServers.make(start, options.sessionsPerServer)
  // Before the fork-servers end: whoever opens a session of a tier that goes away must not start another.
  yield* Effect.addFinalizer(() => Effect.sync(() => (isClosed = true)))
  const { packages } = yield* Effect.scoped(servers.use)

  const launch = Effect.fnUntraced(
    function* (nonce: string): Effect.fn.Return<SandboxProcess, LinuxUnavailable, Scope.Scope> {
      const server = yield* servers.use
      const token = yield* ForkServer.makeToken
      const group = controlGroups === undefined ? undefined : yield* controlGroups.open(token, options.limits)
      const opened = yield* server
        .open({ token, limits: options.limits, controlGroup: group?.name, work: { program: "serve", nonce } })
        .pipe(Effect.mapError(({ reason, step }) => whyNotOpened(step, reason)))
      return sandboxProcess(opened, options.limits, group)
    },
    Effect.tapError((error) => Effect.logError("a sandbox cannot be opened", error)),
    Effect.mapError(({ message, promise }) => {
      const told = "a sandbox cannot be opened at the moment"
      return new SandboxError({
        reason: "unavailable",
        message: promise === "descriptors" ? `${told}: ${message}` : told
      })
    })
  )

  return { capabilities: capabilitiesOf(packages, controlGroups !== undefined), launch: (_, nonce) => launch(nonce) }
})
