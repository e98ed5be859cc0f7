/**
 * What can be done with a session of scripted sandboxes: the operations of the port.
 */
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import {
  type Dataframe,
  type ExecEvent,
  SandboxError,
  type SandboxSession
} from "@castellan/core/sandcastle/SandboxRuntime"
import type { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import type { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { execute, type ExecutionOptions } from "./ScriptedExecution.ts"
import { editsOf, entriesOf, mount, noFile } from "./ScriptedFiles.ts"
import { end, type Session, within } from "./ScriptedSession.ts"

/** What operations know beyond their session. */
export interface OperationsOptions extends ExecutionOptions {
  /** Keeps what reached the sandbox. */
  readonly note: (operation: keyof SandboxSession, ...given: ReadonlyArray<unknown>) => void
  /** The sessions that are open. */
  readonly open: Map<SandcastleId, Session>
  /** Bytes of memory that a dataframe is said to take. */
  readonly dataframeBytes: number | undefined
  /** Bytes of one file at most. */
  readonly maximumFileBytes: number | undefined
  /** Whether a session can be told whose it is once it is open. */
  readonly rebinds: boolean
}

/** The operations of a session; its Python runs one program at a time. */
export const operations = (session: Session, turn: Semaphore.Semaphore, options: OperationsOptions): SandboxSession => {
  const { note, open } = options
  const file = (path: SandboxPath) => {
    const held = session.files.get(path)
    return held?._tag === "Bytes" ? Effect.succeed(held.content.slice()) : Effect.fail(noFile(path))
  }
  return {
    resumed: false,
    exec: (request) => {
      note("exec", request)
      return Stream.callback<ExecEvent, SandboxError>((queue) =>
        within(session, () => {
          const work = execute(session, request, options, (event) => Queue.offer(queue, event))
          return request.within === "session" ? turn.withPermits(1)(work) : work
        }).pipe(Effect.andThen(Queue.end(queue)))
      )
    },
    interrupt: within(session, () => Effect.as(end(session, "interrupted"), session.running.size > 0)),
    bindDataframe: (name, table: ResultTable) =>
      within(session, () => {
        note("bindDataframe", name, table)
        const frame: Dataframe = {
          name,
          rows: table.rows.length,
          columns: table.columns.length,
          ...(options.dataframeBytes === undefined ? {} : { memoryBytes: options.dataframeBytes })
        }
        session.dataframes.set(name, frame)
        return Effect.succeed(frame)
      }),
    upload: (path, content) =>
      within(session, () => {
        note("upload", path, content)
        if (content.length > (options.maximumFileBytes ?? Infinity)) {
          return Effect.fail(new SandboxError({ reason: "exhausted", message: "the disk is full" }))
        }
        session.files.set(path, { _tag: "Bytes", content: content.slice() })
        return Effect.void
      }),
    download: (path) => within(session, () => file(path)),
    list: (path) =>
      within(session, () => {
        const found = entriesOf(session.files, path ?? "")
        return path !== undefined && found.length === 0 ? Effect.fail(noFile(path)) : Effect.succeed(found)
      }),
    remove: (path) =>
      within(session, () =>
        Effect.andThen(
          file(path),
          Effect.sync(() => void session.files.delete(path))
        )
      ),
    mountLibrary: (files) =>
      within(session, () => {
        note("mountLibrary", files)
        for (const path of session.files.keys()) if (path.startsWith("library/")) session.files.delete(path)
        mount(session.files, files)
        return Effect.void
      }),
    diff: (base) =>
      within(session, () => {
        note("diff", base)
        return Effect.succeed(editsOf(session.files, base))
      }),
    ...(options.rebinds
      ? {
          rebind: (tag) =>
            within(session, () => {
              note("rebind", tag)
              open.delete(session.spec.id)
              session.spec = { ...session.spec, ...tag }
              open.set(tag.id, session)
              return Effect.void
            })
        }
      : {}),
    usage: within(session, () =>
      Effect.succeed({ memoryBytes: session.files.size * 1024, dataframes: [...session.dataframes.values()] })
    )
  }
}
