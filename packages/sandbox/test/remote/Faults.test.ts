/**
 * Abuse case 51: the provider answers with errors, hangs, loses what it said it kept, or has no more to give. Whoever
 * waits has a typed error within the deadline, what can be taken up again is, and nothing is left behind.
 */
import { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import {
  type SandboxError,
  SandboxRuntime,
  type SandboxSession,
  type SandboxSpec
} from "@castellan/core/sandcastle/SandboxRuntime"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import { reap } from "@castellan/sandbox/remote"
import * as E2bOptions from "@castellan/sandbox/remote/E2bOptions"
import * as E2bSandboxes from "@castellan/sandbox/remote/E2bSandboxes"
import * as E2bTier from "@castellan/sandbox/remote/E2bTier"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Fault, Route } from "./support/E2bServer.ts"
import { python } from "./support/Python.ts"
import { adapter, events, local as anyLocal, LocalE2b, optionsFor, printed, spec } from "./support/Remote.ts"

const open = (given = spec()) => SandboxRuntime.use((runtime) => runtime.open(given))

const failing = <A, R>(effect: Effect.Effect<A, SandboxError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason)

/** Runs something while requests of one kind go wrong, all of them or the first so many. */
const whileBroken = <A, E, R>(
  route: Route,
  fault: Fault,
  effect: Effect.Effect<A, E, R>,
  times = Number.POSITIVE_INFINITY
): Effect.Effect<A, E, R | LocalE2b> =>
  Effect.gen(function* () {
    const server = yield* LocalE2b
    let left = times
    server.misbehave((asked) => (asked === route && left-- > 0 ? fault : undefined))
    return yield* Effect.ensuring(
      effect,
      Effect.sync(() => server.misbehave(undefined))
    )
  })

/** Waits until something holds; only a hang runs out of time. */
const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.andThen(Effect.sleep("20 millis"), until(holds)))).pipe(
    Effect.timeoutOrElse({ duration: "60 seconds", orElse: () => Effect.die(new Error("it never held")) })
  )

const nothingLeft = Effect.gen(function* () {
  const server = yield* LocalE2b
  yield* until(() => server.sandboxes().length === 0 && server.processes().length === 0)
})

/** Executes what does not end, and waits until it runs. */
const stuck = Effect.fnUntraced(function* (session: SandboxSession) {
  const running = yield* Latch.make()
  const fiber = yield* session
    .exec({
      language: "python",
      code: 'print("running")\nwhile True: pass',
      within: "session",
      timeout: Duration.seconds(60)
    })
    .pipe(
      Stream.tap((event) => (event._tag === "Stdout" ? running.open : Effect.void)),
      Stream.runCollect,
      Effect.forkChild({ startImmediately: true })
    )
  yield* running.await
  return fiber
})

const path = (text: string) => SandboxPath.make(text)
const utf8 = new TextEncoder()

/** Deadlines that only a hang reaches. */
const patient = { callTimeout: "25 seconds", createTimeout: "25 seconds" } as const
/** Deadlines that are waited for: what is hurried must be what does not answer. */
const hasty = { callTimeout: "6 seconds", createTimeout: "6 seconds" } as const
const hastyCreation = { ...patient, createTimeout: "6 seconds" } as const

/** A server for each group of tests, so that what is left of one is not counted in another. */
const local = Layer.fresh(anyLocal)

describe.skipIf(python === undefined)("abuse 51: a provider that fails", () => {
  it.layer(adapter(patient).pipe(Layer.provideMerge(local)), { timeout: "120 seconds", excludeTestServices: true })(
    "answers with an error",
    (it) => {
      const refusals: ReadonlyArray<readonly [string, Route, Fault, SandboxError["reason"]]> = [
        ["500 to creating", "create", { status: 500 }, "unavailable"],
        ["503 to creating", "create", { status: 503 }, "unavailable"],
        ["429 to creating", "create", { status: 429 }, "exhausted"],
        ["401 to creating", "create", { status: 401 }, "unavailable"],
        ["500 to looking for the session", "list", { status: 500 }, "unavailable"],
        ["500 to the upload of the supervisor", "files", { status: 500 }, "unavailable"],
        ["500 to commands", "start", { status: 500 }, "unavailable"],
        ["500 to what is typed", "input", { status: 500 }, "unavailable"]
      ]
      for (const [name, route, fault, reason] of refusals) {
        it.effect(`${name}: a typed error, and no orphan`, () =>
          Effect.gen(function* () {
            assert.strictEqual(yield* whileBroken(route, fault, failing(Effect.scoped(open()))), reason)
            yield* nothingLeft
            // And the next session opens.
            yield* Effect.scoped(open())
            yield* nothingLeft
          })
        )
      }

      it.effect("404 to creating: what is missing is the template, and no sandbox was lost", () =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(whileBroken("create", { status: 404 }, Effect.scoped(open())))
          assert.strictEqual(error.reason, "unavailable")
          assert.notInclude(error.message, "lost")
          yield* nothingLeft
        })
      )

      it.effect("half of an answer to creating: the sandbox is found, and there is one", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* whileBroken("create", "garble", open(), 1)
              assert.strictEqual(yield* printed(session, "print(2)"), "2\n")
              assert.lengthOf(server.sandboxes(), 1)
            })
          )
          yield* nothingLeft
        })
      )

      it.effect("many files are copied out without asking for their folder each time", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* open()
              const before = server.count("input")
              yield* events(session, 'for i in range(100): open(f"outputs/{i}.txt", "w").write("kept")')
              assert.isBelow(server.count("input") - before, 120)
            })
          )
          yield* nothingLeft
        })
      )

      it.effect("once, to what may be asked twice: nobody sees it", () =>
        Effect.gen(function* () {
          for (const route of ["list", "files", "start"] as const) {
            const session = whileBroken(
              route,
              { status: 500 },
              Effect.flatMap(open(), (one) => printed(one, "print(1)")),
              1
            )
            assert.strictEqual(yield* Effect.scoped(session), "1\n")
          }
        })
      )

      it.effect("to creating, which was done all the same: the sandbox is found, and there is one", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* whileBroken("create", "fail-after", open(), 1)
              assert.strictEqual(yield* printed(session, "print(2)"), "2\n")
              assert.lengthOf(server.sandboxes(), 1)
            })
          )
          yield* nothingLeft
        })
      )

      it.effect("to ending: it is asked again", () =>
        Effect.gen(function* () {
          yield* whileBroken("kill", { status: 500 }, Effect.scoped(open()), 2)
          yield* nothingLeft
        })
      )

      it.effect("sandboxes have no network, no public address, and the tag of their session", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          const given = spec()
          yield* Effect.scoped(open(given))
          assert.deepInclude(server.created().at(-1), {
            templateID: "code-interpreter-v1",
            allow_internet_access: false,
            network: { denyOut: ["0.0.0.0/0"], allowPublicTraffic: false },
            autoPause: false,
            timeout: 300
          })
          assert.include(JSON.stringify(server.created().at(-1)), given.id)
        })
      )

      it.effect("the lease of an open session is renewed, and of no other", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          const before = server.count("timeout")
          const layer = adapter({ ...patient, lease: "300 millis" })
          yield* Effect.scoped(
            Effect.andThen(
              open(),
              until(() => server.count("timeout") >= before + 3)
            )
          ).pipe(Effect.provide(layer))
          yield* nothingLeft
        })
      )

      it.effect("takes a session that never was without looking for it", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          const before = server.count("list")
          yield* Effect.scoped(open({ ...spec(), isNew: true }))
          assert.strictEqual(server.count("list"), before)
        })
      )
    }
  )

  it.layer(adapter(hasty).pipe(Layer.provideMerge(local)), { timeout: "120 seconds", excludeTestServices: true })(
    "does not answer",
    (it) => {
      it.effect("when a connection is to be joined again: the session is lost, not stuck", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* open()
              const broken = Effect.gen(function* () {
                server.disconnect()
                yield* until(() => server.count("start") > starts)
                return yield* failing(events(session, "print(1)"))
              })
              const starts = server.count("start")
              assert.strictEqual(yield* whileBroken("start", "hang", broken), "lost")
            })
          )
          yield* nothingLeft
        })
      )

      it.effect("to ending: the session closes all the same, and its lease ends it", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          yield* whileBroken("kill", "hang", Effect.scoped(open()))
          assert.lengthOf(server.sandboxes(), 1)
          for (const id of server.sandboxes()) server.lose(id)
          yield* nothingLeft
        })
      )

      const silences: ReadonlyArray<Route> = ["create", "list", "files", "start", "input"]
      for (const route of silences) {
        it.effect(`to ${route}: a typed error, and no orphan`, () =>
          Effect.gen(function* () {
            assert.strictEqual(yield* whileBroken(route, "hang", failing(Effect.scoped(open()))), "unavailable")
            yield* nothingLeft
          })
        )
      }
    }
  )

  it.layer(adapter(hastyCreation).pipe(Layer.provideMerge(local)), {
    timeout: "120 seconds",
    excludeTestServices: true
  })("has done what it does not tell", (it) => {
    it.effect("of creating: the sandbox is found, and there is one", () =>
      Effect.gen(function* () {
        const server = yield* LocalE2b
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* whileBroken("create", "hang-after", open(), 1)
            assert.lengthOf(server.sandboxes(), 1)
          })
        )
        yield* nothingLeft
      })
    )
  })

  it.layer(adapter({ callTimeout: "10 minutes", createTimeout: "10 minutes" }).pipe(Layer.provideMerge(local)), {
    timeout: "120 seconds",
    excludeTestServices: true
  })("is not waited for", (it) => {
    for (const route of ["create", "list", "files", "start"] as const) {
      it.effect(`by who leaves while ${route} is not answered, and no orphan is left`, () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          const before = server.count(route)
          const opening = Effect.gen(function* () {
            const fiber = yield* Effect.forkChild(Effect.scoped(open()), { startImmediately: true })
            yield* until(() => server.count(route) > before)
            yield* Fiber.interrupt(fiber)
          })
          yield* whileBroken(route, "hang-after", opening)
          yield* nothingLeft
        })
      )
    }
  })

  it.layer(adapter(patient).pipe(Layer.provideMerge(local)), { timeout: "120 seconds", excludeTestServices: true })(
    "loses a sandbox",
    (it) => {
      it.effect("while it executes: what runs ends, and the session comes again with its files", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          const given = spec({ library: [{ path: LibraryPath.make("a.md"), content: utf8.encode("a") }] })
          const scope = yield* Scope.make()
          const session = yield* Scope.provide(open(given), scope)
          yield* session.upload(path("uploads/sales.csv"), utf8.encode("a,b\n1,2\n"))
          yield* session.upload(path("uploads/gone.csv"), utf8.encode("gone"))
          yield* session.remove(path("uploads/gone.csv"))
          yield* events(session, 'x = 41\nopen("outputs/chart.txt", "w").write("chart")')
          const fiber = yield* stuck(session)
          for (const id of server.sandboxes()) server.lose(id)
          const exit = yield* Fiber.await(fiber)
          assert.isTrue(Exit.isFailure(exit))
          assert.strictEqual(yield* failing(session.usage), "lost")
          yield* Scope.close(scope, Exit.void)
          yield* nothingLeft

          yield* Effect.scoped(
            Effect.gen(function* () {
              const again = yield* open(given)
              assert.isFalse(again.resumed)
              const read = 'print(open("uploads/sales.csv").read(), open("outputs/chart.txt").read())'
              assert.strictEqual(yield* printed(again, read), "a,b\n1,2\n chart\n")
              assert.strictEqual(yield* failing(again.download(path("uploads/gone.csv"))), "not_found")
              assert.strictEqual(new TextDecoder().decode(yield* again.download(path("library/a.md"))), "a")
              assert.strictEqual(yield* printed(again, 'print("x" in globals())'), "False\n")
            })
          )
          // Closed in peace: what was copied is not wanted any more.
          yield* Effect.scoped(
            Effect.gen(function* () {
              const third = yield* open(given)
              assert.strictEqual(yield* failing(third.download(path("uploads/sales.csv"))), "not_found")
            })
          )
        })
      )

      it.effect("before it is asked anything: the session is lost, not stuck", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* open()
              for (const id of server.sandboxes()) server.lose(id)
              assert.strictEqual(yield* failing(events(session, "print(1)")), "lost")
              assert.strictEqual(yield* failing(session.download(path("outputs/a.txt"))), "lost")
            })
          )
          yield* nothingLeft
        })
      )

      it.effect("or only the connection to it: variables and files stay", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* open()
              yield* events(session, 'x = 41\nopen("outputs/a.txt", "w").write("kept")')
              server.disconnect()
              // What is asked before the connection is there again may be lost with it.
              const read = printed(session, 'print(x, open("outputs/a.txt").read())')
              const text = yield* Effect.repeat(read, { until: (one) => one !== "" })
              assert.strictEqual(text, "41 kept\n")
              assert.lengthOf(server.sandboxes(), 1)
            })
          )
          yield* nothingLeft
        })
      )

      it.effect("or the connection while it executes: that execution is over, and the next one runs", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* open()
              yield* events(session, 'open("outputs/a.txt", "w").write("kept")')
              const fiber = yield* stuck(session)
              server.disconnect()
              const ended = yield* Fiber.join(fiber)
              assert.deepInclude(ended.at(-1), { _tag: "Finished", outcome: "failed" })
              assert.isTrue(ended.some((event) => event._tag === "KernelRestarted"))
              assert.strictEqual(yield* printed(session, 'print(open("outputs/a.txt").read())'), "kept\n")
            })
          )
          yield* nothingLeft
        })
      )

      it.effect("or the connection again and again: somebody in the sandbox breaks it, and the session is lost", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* open()
              const isOver = (exit: Exit.Exit<unknown, SandboxError>) =>
                Exit.isSuccess(exit) || Option.exists(Exit.findErrorOption(exit), ({ reason }) => reason === "lost")
              let rounds = 0
              const round = Effect.suspend(() => {
                rounds++
                server.disconnect()
                return Effect.repeat(Effect.exit(session.usage), { until: isOver })
              })
              yield* Effect.repeat(round, { until: (exit) => Exit.isFailure(exit) || rounds > 30 })
              assert.isAbove(rounds, 3)
              assert.isAtMost(rounds, 12)
            })
          )
          yield* nothingLeft
        })
      )

      it.effect("or the supervisor: another is there, over the same files", () =>
        Effect.gen(function* () {
          const server = yield* LocalE2b
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* open()
              yield* events(session, 'open("outputs/a.txt", "w").write("kept")')
              yield* events(session, "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)").pipe(Effect.exit)
              assert.strictEqual(yield* printed(session, 'print(open("outputs/a.txt").read())'), "kept\n")
              assert.lengthOf(server.sandboxes(), 1)
            })
          )
          yield* nothingLeft
        })
      )
    }
  )

  it.layer(local, { timeout: "120 seconds", excludeTestServices: true })("outlives its host", (it) => {
    /** Opens a session as a host that is then gone without a word: its sandbox is never ended. */
    const abandoned = (given: ReturnType<typeof spec>, code: string, leaves: boolean) =>
      Effect.gen(function* () {
        const server = yield* LocalE2b
        const scope = yield* Scope.make()
        const context = yield* Scope.provide(Layer.build(adapter(patient)), scope)
        const session = yield* open(given).pipe(Scope.provide(scope), Effect.provideContext(context))
        yield* events(session, code)
        if (leaves) yield* stuck(session)
        server.misbehave((route) => (route === "kill" ? { status: 404 } : undefined))
        yield* Scope.close(scope, Exit.void)
        server.misbehave(undefined)
      })

    it.effect("a session is taken up again with its variables, its files, and its library as it was edited", () =>
      Effect.gen(function* () {
        const server = yield* LocalE2b
        const library = [{ path: LibraryPath.make("guide.md"), content: utf8.encode("guide") }]
        const given = spec({ library })
        yield* abandoned(given, 'x = 41\nopen("library/guide.md", "w").write("edited")', false)
        assert.lengthOf(server.sandboxes(), 1)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const session = yield* open(given)
            assert.isTrue(session.resumed)
            assert.strictEqual(yield* printed(session, "print(x + 1)"), "42\n")
            const edits = yield* session.diff(library)
            assert.deepStrictEqual(
              edits.map((edit) => [edit._tag, edit.path]),
              [["Modified", "guide.md"]]
            )
          })
        ).pipe(Effect.provide(adapter(patient)))
        yield* nothingLeft
      })
    )

    it.effect("what the host before had running is stopped first", () =>
      Effect.gen(function* () {
        const given = spec()
        yield* abandoned(given, "x = 41", true)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const session = yield* open(given)
            assert.isTrue(session.resumed)
            assert.strictEqual(yield* printed(session, "print(x)"), "41\n")
          })
        ).pipe(Effect.provide(adapter(patient)))
        yield* nothingLeft
      })
    )

    it.effect("a host that left in the midst of a frame has spoiled the variables, and not the session", () =>
      Effect.gen(function* () {
        const server = yield* LocalE2b
        const given = spec()
        const settings = E2bOptions.settings(optionsFor(server, patient))
        const tier = yield* E2bTier.make(settings, E2bSandboxes.make(settings))
        server.misbehave((route) => (route === "kill" ? { status: 404 } : undefined))
        yield* Effect.scoped(
          Effect.gen(function* () {
            const process = yield* tier.launch(given, "0".repeat(32))
            const frame = { op: "put", id: 1, nonce: "1".repeat(32), path: "uploads/a.bin", bytes: 2_000_000 }
            yield* process.send(utf8.encode(`${JSON.stringify(frame)}\nonly a part of it`))
          })
        )
        server.misbehave(undefined)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const session = yield* open(given)
            assert.isFalse(session.resumed)
            assert.strictEqual(yield* printed(session, "print(1)"), "1\n")
            assert.lengthOf(server.sandboxes(), 1)
          })
        ).pipe(Effect.provide(adapter(patient)))
        yield* nothingLeft
      })
    )

    it.effect("orphans are reaped, and what is wanted stays", () =>
      Effect.gen(function* () {
        const server = yield* LocalE2b
        const [one, other] = [spec(), spec()]
        yield* abandoned(one, "pass", false)
        yield* abandoned(other, "pass", false)
        const options = optionsFor(server)
        const elsewhere = yield* reap({ ...options, deployment: "another" }, () => Effect.succeed(false))
        assert.strictEqual(elsewhere, 0)
        assert.strictEqual(yield* reap(options, (session) => Effect.succeed(session === one.id)), 1)
        assert.lengthOf(server.sandboxes(), 1)
        assert.strictEqual(yield* reap(options, () => Effect.succeed(false)), 1)
        yield* nothingLeft
      })
    )

    it.effect("what no sandcastle has any more is ended by the service, but what is young or nobody's yet", () =>
      Effect.gen(function* () {
        const server = yield* LocalE2b
        const [kept, dropped, young, pooled] = [spec(), spec(), spec(), spec({ id: SandcastleId.make("pool-1") })]
        const ids: Array<string> = []
        for (const given of [kept, dropped, young, pooled]) {
          yield* abandoned(given, "pass", false)
          ids.push(...server.sandboxes().filter((id) => !ids.includes(id)))
        }
        for (const [index, id] of ids.entries()) if (index !== 2) server.age(id, 11 * 60_000)
        const asked: Array<unknown> = []
        const isAlive = (tag: Pick<SandboxSpec, "id" | "organizationId">) =>
          Effect.sync(() => {
            asked.push(tag)
            return tag.id === kept.id
          })
        const ended = yield* SandboxRuntime.use((runtime) => runtime.reap?.(isAlive) ?? Effect.succeed(-1)).pipe(
          Effect.provide(adapter(patient))
        )
        assert.strictEqual(ended, 1)
        assert.deepStrictEqual(
          server.sandboxes(),
          ids.filter((_, index) => index !== 1)
        )
        assert.sameDeepMembers(
          asked,
          [kept, dropped].map(({ id, organizationId }) => ({ id, organizationId }))
        )
        for (const id of server.sandboxes()) server.lose(id)
        yield* nothingLeft
      })
    )

    it.effect("a key that cannot be sent is in no line of the log", () =>
      Effect.gen(function* () {
        const server = yield* LocalE2b
        const lines: Array<string> = []
        const logger = Logger.make(({ message }) => void lines.push(JSON.stringify(message)))
        const options = { ...optionsFor(server), apiKey: Redacted.make("e2b_secret\nsecret") }
        const error = yield* Effect.flip(reap(options, () => Effect.succeed(false))).pipe(
          Effect.provide(Logger.layer([logger]))
        )
        assert.isNotEmpty(lines)
        assert.notInclude(JSON.stringify([lines, error]), "secret")
      })
    )

    it.effect("a key that is not accepted is told as such, and not shown", () =>
      Effect.gen(function* () {
        const server = yield* LocalE2b
        const options = { ...optionsFor(server), apiKey: Redacted.make("e2b_another") }
        const error = yield* Effect.flip(reap(options, () => Effect.succeed(false)))
        assert.strictEqual(error.reason, "unavailable")
        assert.include(error.message, "key")
        assert.notInclude(JSON.stringify(error), "e2b_another")
      })
    )
  })
})
