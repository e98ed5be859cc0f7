/**
 * The embedded database's side of its thread: one session at a time, as PostgreSQL without a server has it.
 */
import type { PGlite } from "@electric-sql/pglite"
import type { MessagePort } from "node:worker_threads"
import * as Engine from "./Engine.ts"
import { maintain } from "./Maintenance.ts"
import type { EngineAnswer, EngineOptions, EngineRequest } from "./EngineMessage.ts"

/** Bytes of an answer that are sent on while the statement still runs. */
const flushAt = 1024 * 1024

const encoder = new TextEncoder()

/** An error of the wire protocol after which the session is over. */
const fatal = (state: string, message: string): Uint8Array<ArrayBuffer> => {
  const fields = encoder.encode(`SFATAL\0VFATAL\0C${state}\0M${message}\0\0`)
  const bytes = new Uint8Array(5 + fields.length)
  bytes[0] = 0x45
  new DataView(bytes.buffer).setUint32(1, 4 + fields.length)
  bytes.set(fields, 5)
  return bytes
}

/** The bytes of several pieces in one. */
const joined = (pieces: ReadonlyArray<Uint8Array>, size: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** Whether nothing of what a client began is open when its messages end so: with `Sync`, or a simple `Query`. */
const isComplete = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x51 || (bytes.at(-5) === 0x53 && bytes.at(-1) === 4 && bytes.at(-2) === 0 && bytes.at(-3) === 0)

class EngineService {
  readonly #database: PGlite
  readonly #port: MessagePort
  #session: number | undefined
  #role: string | undefined
  #isBetweenStatements = true

  constructor(database: PGlite, port: MessagePort) {
    this.#database = database
    this.#port = port
  }

  async handle(request: EngineRequest): Promise<void> {
    switch (request.type) {
      case "open":
        return await this.#open(request.session, request.role)
      case "data":
        return request.session === this.#session ? await this.#execute(request.session, request.bytes) : undefined
      case "close":
        return request.session === this.#session ? await this.#close() : undefined
      case "stop":
        await this.#database.close()
        this.#port.close()
    }
  }

  /** A session finds nothing of the one before: no transaction, no setting, no prepared statement, not its role. */
  async #open(session: number, role: string | undefined): Promise<void> {
    if (this.#session !== undefined) {
      const bytes = fatal("53300", "the embedded database has one connection, and it is taken")
      this.#post({ type: "data", session, bytes })
      return this.#post({ type: "closed", session })
    }
    this.#session = session
    await this.#reset()
    this.#role = role
    await this.#work(role)
  }

  async #close(): Promise<void> {
    this.#session = undefined
    this.#role = undefined
    await this.#reset()
    this.#isBetweenStatements = true
  }

  async #reset(): Promise<void> {
    if (this.#database.isInTransaction()) await this.#database.exec("ROLLBACK")
    await this.#database.exec("DISCARD ALL")
  }

  async #execute(session: number, bytes: Uint8Array): Promise<void> {
    let pieces: Array<Uint8Array> = []
    let size = 0
    this.#isBetweenStatements = isComplete(bytes)
    const send = (): void => {
      if (size === 0) return
      this.#post({ type: "data", session, bytes: joined(pieces, size) })
      pieces = []
      size = 0
    }
    await this.#database.execProtocolRawStream(bytes, {
      onRawData: (piece) => {
        // It lies in PostgreSQL's memory, which is written over.
        pieces.push(piece.slice())
        size += piece.length
        if (size >= flushAt) send()
      }
    })
    send()
  }

  /** As the owner, does one piece of what PostgreSQL's own processes would, and answers whether there was one. */
  async maintain(): Promise<boolean> {
    if (!this.#isBetweenStatements || this.#database.isInTransaction()) return false
    try {
      await this.#database.exec("RESET ROLE")
      return await maintain(this.#database)
    } finally {
      await this.#work(this.#role)
    }
  }

  /** Works as a role from now on. What cannot is ended: it would work as the owner of everything. */
  async #work(role: string | undefined): Promise<void> {
    if (role === undefined) return
    try {
      await this.#database.exec(`SET ROLE ${role}`)
    } catch {
      Engine.giveUp()
    }
  }

  #post(answer: EngineAnswer): void {
    this.#port.postMessage(answer, answer.type === "data" ? [answer.bytes.buffer] : [])
  }
}

/** Starts the database and serves it to the other end of a port. */
export const serve = async (
  port: MessagePort,
  { folder, maintenanceInterval = 30_000 }: EngineOptions
): Promise<void> => {
  const tell = (answer: EngineAnswer): void => port.postMessage(answer)
  // What comes while the database starts is kept in its order.
  let turn: Promise<void> = Promise.resolve()
  const started = Promise.withResolvers<EngineService>()
  port.on("message", (request: EngineRequest) => {
    turn = turn.then(async () => (await started.promise).handle(request))
  })
  const look = async (service: EngineService): Promise<void> => {
    try {
      // One piece at a time: whoever asks meanwhile is answered in between.
      if (await service.maintain()) turn = turn.then(() => look(service))
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error), "DatabaseMaintenance")
    }
  }
  try {
    const service = new EngineService(await Engine.open(folder), port)
    started.resolve(service)
    tell({ type: "ready" })
    const timer = setInterval(() => {
      turn = turn.then(() => look(service))
    }, maintenanceInterval)
    port.once("close", () => clearInterval(timer))
  } catch (error) {
    const failure = error instanceof Engine.EngineFailure ? error.failure : "Unusable"
    const message =
      error instanceof Engine.EngineFailure
        ? error.message
        : `the database in ${folder} cannot be started: ${error instanceof Error ? error.message : String(error)}`
    tell({ type: "failed", failure, message })
    port.close()
  }
}
