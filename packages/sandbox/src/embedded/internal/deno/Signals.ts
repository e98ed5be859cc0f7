/**
 * Shared memory between the thread that hears the host and the thread that runs Python, which hears nothing while it
 * does: interrupts, and the answers to its calls.
 *
 * An interrupt names what it is meant for, so that one that comes late hits nothing, and one that comes early is kept.
 */

/** Bytes of an answer that are handed over at once. */
const window = 256 * 1024

const slots = {
  /** 2 while an interrupt is to be raised: what Pyodide looks at. */
  signal: 0,
  /** Counts what happened; the running thread waits for it to change. */
  events: 1,
  /** The execution that an interrupt was asked for. */
  wanted: 2,
  /** The execution that runs and can be interrupted; 0 for none. */
  armed: 3,
  /** The call that waits for an answer; 0 for none. */
  call: 4,
  /** Bytes of the answer in the window, plus one; 0 while it is empty. */
  filled: 5,
  /** Whether the answer is at its end (1), is an error (2), or has more (0). */
  last: 6,
  /** Counts what was taken out of the window. */
  taken: 7
} as const

const slotCount = 8
const interrupt = 2

/** The memory, to be given to the other thread. */
export const makeSignals = (): SharedArrayBuffer => new SharedArrayBuffer(slotCount * 4 + window)

/** The end of the thread that hears the host. */
export class SignalSender {
  readonly #slots: Int32Array<SharedArrayBuffer>
  readonly #window: Uint8Array<SharedArrayBuffer>

  constructor(memory: SharedArrayBuffer) {
    this.#slots = new Int32Array(memory, 0, slotCount)
    this.#window = new Uint8Array(memory, slotCount * 4)
  }

  #wake(): void {
    Atomics.add(this.#slots, slots.events, 1)
    Atomics.notify(this.#slots, slots.events)
  }

  /** Interrupts an execution, now or as soon as it begins. */
  interrupt(id: number): void {
    Atomics.store(this.#slots, slots.wanted, id)
    if (Atomics.load(this.#slots, slots.armed) === id) Atomics.store(this.#slots, slots.signal, interrupt)
    this.#wake()
  }

  /** Hands an answer over, as long as somebody waits for it. */
  async answer(call: number, content: Uint8Array, failed: boolean): Promise<void> {
    for (let at = 0; ; at += window) {
      const seen = Atomics.load(this.#slots, slots.taken)
      if (Atomics.load(this.#slots, slots.call) !== call) return
      const piece = content.subarray(at, at + window)
      this.#window.set(piece)
      const over = at + window >= content.length
      Atomics.store(this.#slots, slots.last, over ? (failed ? 2 : 1) : 0)
      Atomics.store(this.#slots, slots.filled, piece.length + 1)
      this.#wake()
      if (over) return
      const taken = Atomics.waitAsync(this.#slots, slots.taken, seen)
      // oxlint-disable-next-line no-await-in-loop -- the window is filled again when it was emptied
      if (taken.async) await taken.value
    }
  }
}

/** An answer, or that an interrupt came first. */
export type Answer =
  | { readonly kind: "result" | "error"; readonly content: Uint8Array }
  | { readonly kind: "interrupted" }

/** The end of the thread that runs Python. */
export class SignalReceiver {
  /** What Pyodide looks at. */
  readonly buffer: Int32Array<SharedArrayBuffer>
  readonly #window: Uint8Array<SharedArrayBuffer>

  constructor(memory: SharedArrayBuffer) {
    this.buffer = new Int32Array(memory, 0, slotCount)
    this.#window = new Uint8Array(memory, slotCount * 4)
  }

  /** From here on an execution can be interrupted. */
  arm(id: number): void {
    Atomics.store(this.buffer, slots.signal, 0)
    Atomics.store(this.buffer, slots.armed, id)
    if (Atomics.load(this.buffer, slots.wanted) === id) Atomics.store(this.buffer, slots.signal, interrupt)
  }

  /** From here on it cannot. */
  disarm(): void {
    Atomics.store(this.buffer, slots.armed, 0)
    Atomics.store(this.buffer, slots.signal, 0)
  }

  /** Whether an interrupt was asked for that means an execution. */
  wants(id: number): boolean {
    return Atomics.load(this.buffer, slots.wanted) === id
  }

  get #interrupted(): boolean {
    return Atomics.load(this.buffer, slots.signal) === interrupt
  }

  /** Waits for milliseconds, or until an interrupt. */
  sleep(milliseconds: number): void {
    const end = performance.now() + milliseconds
    for (;;) {
      const seen = Atomics.load(this.buffer, slots.events)
      const left = end - performance.now()
      if (left <= 0 || this.#interrupted) return
      Atomics.wait(this.buffer, slots.events, seen, left)
    }
  }

  /** Says which call the next answer is waited for, before it is made. */
  expect(call: number): void {
    Atomics.store(this.buffer, slots.filled, 0)
    Atomics.store(this.buffer, slots.call, call)
  }

  /** Waits for the answer to the call. */
  wait(): Answer {
    const pieces: Array<Uint8Array> = []
    try {
      for (;;) {
        const seen = Atomics.load(this.buffer, slots.events)
        const filled = Atomics.load(this.buffer, slots.filled)
        if (filled > 0) {
          pieces.push(this.#window.slice(0, filled - 1))
          const last = Atomics.load(this.buffer, slots.last)
          Atomics.store(this.buffer, slots.filled, 0)
          if (last !== 0) return { kind: last === 1 ? "result" : "error", content: joined(pieces) }
          this.#take()
        } else if (this.#interrupted) {
          return { kind: "interrupted" }
        } else {
          Atomics.wait(this.buffer, slots.events, seen)
        }
      }
    } finally {
      Atomics.store(this.buffer, slots.call, 0)
      this.#take()
    }
  }

  #take(): void {
    Atomics.add(this.buffer, slots.taken, 1)
    Atomics.notify(this.buffer, slots.taken)
  }
}

const joined = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
