/**
 * A session of the embedded database as the stream of bytes that a client of PostgreSQL works with.
 */
import { Buffer } from "node:buffer"
import { Duplex } from "node:stream"
import { FrontendMessages, isCancelRequest, isTerminate } from "./FrontendMessages.ts"

/** The session's way to the database. */
export interface EngineSession {
  readonly open: () => void
  readonly send: (bytes: Uint8Array<ArrayBuffer>) => void
  readonly close: () => void
}

/** A session as a stream. */
export class EngineStream extends Duplex {
  readonly #session: EngineSession
  readonly #messages = new FrontendMessages()
  #isOpen = false

  constructor(session: EngineSession) {
    super()
    this.#session = session
  }

  /** The database's answer. */
  receive(bytes: Uint8Array<ArrayBuffer>): void {
    if (!this.destroyed) this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  }

  override _read(): void {
    // Answers are pushed as they come: the database has made them already.
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    for (const bytes of this.#messages.take(chunk)) {
      if (!this.#isOpen) {
        // PostgreSQL in one thread sees a request to cancel when the statement is over: too late for it.
        if (isCancelRequest(bytes)) return void this.destroy()
        this.#isOpen = true
        this.#session.open()
      }
      if (isTerminate(bytes)) this.#close()
      else this.#session.send(bytes)
    }
    done()
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#close()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#close()
    done(error)
  }

  #close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#session.close()
  }
}
