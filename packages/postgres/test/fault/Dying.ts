/**
 * A process that dies at a statement: right before it is sent, or right after. What is counted is the statements of
 * PostgreSQL's protocol, over all connections of the process, from the moment it is armed.
 */
import { Duplex } from "node:stream"

/** When a process dies. */
export interface Death {
  /** Which statement, from 1. */
  readonly statement: number
  readonly when: "before" | "after"
}

/** The bytes of one statement end with the frontend's Sync. Source: PostgreSQL, 54.7 "Message Formats". */
const sync = 0x53

/** What is left of a chunk when the statements that it may hold are taken: pieces that each end a statement. */
const statementsIn = (chunk: Buffer): ReadonlyArray<Buffer> => {
  const pieces: Array<Buffer> = []
  let start = 0
  let at = 0
  while (at < chunk.length) {
    const type = chunk[at]
    at += 1 + chunk.readUInt32BE(at + 1)
    if (type !== sync) continue
    pieces.push(chunk.subarray(start, at))
    start = at
  }
  if (start < chunk.length) pieces.push(chunk.subarray(start))
  return pieces
}

/** Whose life it is. */
export class Life {
  /** Statements that were sent since it was armed. */
  sent = 0
  isOver = false
  readonly #end: () => void
  readonly #leavesConnections: boolean
  readonly #streams = new Set<Duplex>()
  #death: Death | undefined
  #isArmed = false

  /**
   * `end` is what happens at the end, once the bytes that were sent have left. Connections are closed with it, unless they
   * are left to whatever ends the process.
   */
  constructor(end: () => void, options: { readonly leavesConnections?: boolean } = {}) {
    this.#end = end
    this.#leavesConnections = options.leavesConnections ?? false
  }

  /** From now on, statements are counted; and one is the last, when it is said which. */
  arm(death?: Death): void {
    this.#isArmed = true
    this.#death = death
    this.sent = 0
  }

  /** Ends it now. */
  kill(): void {
    if (!this.isOver) this.#die()
  }

  /** A connection of this life; nothing goes through it afterwards. */
  stream(connect: () => Duplex): Duplex {
    if (this.isOver) return new Duplex({ read: () => {}, write: () => {} }).destroy(new Error("dead"))
    const wire = connect()
    const stream = new WatchedStream(wire, (piece, isStatement) => this.#send(wire, piece, isStatement))
    this.#streams.add(stream)
    stream.once("close", () => this.#streams.delete(stream))
    return stream
  }

  #send(wire: Duplex, piece: Buffer, isStatement: boolean): void {
    if (this.isOver) return
    if (!isStatement || !this.#isArmed) return void wire.write(piece)
    const isLast = this.#death !== undefined && this.sent + 1 >= this.#death.statement
    if (isLast && this.#death?.when === "before") return this.#die()
    this.sent += 1
    if (!isLast) return void wire.write(piece)
    this.isOver = true
    wire.write(piece, () => this.#die())
  }

  #die(): void {
    this.isOver = true
    this.#end()
    if (this.#leavesConnections) return
    for (const stream of this.#streams) stream.destroy(new Error("dead"))
  }
}

/** A stream whose way out is watched. */
class WatchedStream extends Duplex {
  readonly #wire: Duplex
  readonly #send: (piece: Buffer, isStatement: boolean) => void
  #isStarted = false

  constructor(wire: Duplex, send: (piece: Buffer, isStatement: boolean) => void) {
    super()
    this.#wire = wire
    this.#send = send
    wire.on("data", (bytes: Buffer) => this.push(bytes))
    wire.on("end", () => this.push(null))
    wire.on("error", (error) => this.destroy(error))
    wire.on("close", () => this.destroy())
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#isStarted) {
      for (const piece of statementsIn(chunk)) {
        this.#send(piece, piece[piece.length - 5] === sync)
      }
    } else {
      this.#isStarted = true
      this.#send(chunk, false)
    }
    done()
  }

  override _final(done: () => void): void {
    this.#wire.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#wire.destroy()
    done(error)
  }
}
