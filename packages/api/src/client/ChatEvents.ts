/**
 * The events of a run, whatever happens to the connection: a stream that is cut is taken up again after the last event
 * that came, without a gap or a repeat, until `done`.
 *
 * Source: decisions.md §4 ("`Last-Event-ID` … resumes after it without a gap or a repeat").
 */
/* oxlint-disable no-await-in-loop -- a stream is read, and taken up again, one step after another */
import type * as StreamEvent from "../chat/ChatStreamEvent.ts"
import { CastellanError } from "./CastellanError.ts"
import * as EventStreamParser from "./EventStreamParser.ts"
import { requestIdOf } from "./Transport.ts"

/** An event of a run, as JSON. */
export type ChatStreamEvent = typeof StreamEvent.ChatStreamEvent.Encoded

/** How a stream that was cut is taken up again. */
export interface ResumeOptions {
  /** Attempts in a row that bring no event before the stream is given up; 0 turns resumption off. 8 by default. */
  readonly attempts?: number
  /** Milliseconds before the first attempt; each further one waits twice as long. 250 by default. */
  readonly initialDelay?: number
  /** Milliseconds between two attempts at most. 5,000 by default. */
  readonly maximumDelay?: number
  /**
   * Milliseconds of silence after which a connection counts as cut. The server sends a comment every 15 seconds, so
   * the default of 45,000 is three of them.
   */
  readonly silence?: number
}

/** Where the events of a run come from. */
export interface EventSource {
  /** The first request: the question itself, or the first attempt to follow. */
  readonly open: (signal: AbortSignal) => Promise<Response>
  /** A request that takes the stream of a chat up again. */
  readonly resume: (chatId: string, lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>
  /** The chat, where the caller knows it before the first event. */
  readonly chatId?: string | undefined
  /** The id of the last event that the caller has. */
  readonly lastEventId?: string | undefined
  /** Whether the first request may be repeated when it fails: a question may not, or it would be asked twice. */
  readonly repeatable: boolean
  readonly options: ResumeOptions | undefined
  readonly signal: AbortSignal | undefined
}

const isEvent = (value: unknown): value is ChatStreamEvent =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

const readEvent = (data: string, response: Response): ChatStreamEvent => {
  let cause: unknown
  try {
    const value: unknown = JSON.parse(data)
    if (isEvent(value)) return value
  } catch (error) {
    cause = error
  }
  throw new CastellanError({
    code: "unexpected_response",
    message: "the stream has an event that is not the service's",
    requestId: requestIdOf(response),
    cause
  })
}

/**
 * Whether an id is that of an event that came already. `done` is not asked: nothing comes after it, and a server that
 * cannot go on sends one without an id of its own.
 */
const isRepeat = (id: string, last: string | undefined): boolean =>
  last !== undefined && (id === last || (/^\d+$/.test(id) && /^\d+$/.test(last) && Number(id) <= Number(last)))

/** Half to all of the delay, so that a thousand clients of a server that restarts do not come back at once. */
const spread = (delay: number): number => {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
  return delay / 2 + (delay / 2) * (random / 2 ** 32)
}

const sleep = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, milliseconds)
    if (signal?.aborted === true) stop()
    else signal?.addEventListener("abort", stop, { once: true })
  })

/** One connection, and how long it may be silent. */
interface Connection {
  readonly open: (signal: AbortSignal) => Promise<Response>
  readonly silence: number
  /** Whether the silence before the first byte counts too: not while a question is being taken. */
  readonly impatient: boolean
  readonly signal: AbortSignal | undefined
}

/**
 * The events of one connection: ends when the server ends it, and fails when it is cut or silent for too long. What
 * comes first is nothing: the server has taken the request.
 */
const connect = async function* ({ impatient, open, signal: outer, silence }: Connection) {
  const connection = new AbortController()
  const signal = outer === undefined ? connection.signal : AbortSignal.any([outer, connection.signal])
  /** Waits for the server, and for no longer than it may be silent. */
  const patiently = async <A>(wait: Promise<A>): Promise<A> => {
    const timer = setTimeout(() => connection.abort(), silence)
    try {
      return await wait
    } finally {
      clearTimeout(timer)
    }
  }
  try {
    const response = await (impatient ? patiently(open(signal)) : open(signal))
    yield undefined
    if (response.body === null) return
    const reader = response.body.getReader()
    const decoder = new TextDecoder()
    const parser = EventStreamParser.make()
    for (;;) {
      const { done, value } = await patiently(reader.read()).catch((cause: unknown) => {
        throw new CastellanError({
          code: "connection_failed",
          message: "the stream was cut",
          requestId: requestIdOf(response),
          cause
        })
      })
      if (done) return
      for (const { data, id } of parser.feed(decoder.decode(value, { stream: true }))) {
        yield { id, event: readEvent(data, response) }
      }
    }
  } catch (error) {
    outer?.throwIfAborted()
    // The silence was the client's own doing: to whoever called `open`, its abort is a connection that failed.
    if (connection.signal.aborted && !(error instanceof CastellanError)) {
      throw new CastellanError({ code: "connection_failed", message: "the service was silent", cause: error })
    }
    throw error
  } finally {
    connection.abort()
  }
}

/** The events of a run, from the first that the source has to `done`. */
export const events = async function* (source: EventSource): AsyncGenerator<ChatStreamEvent, void, void> {
  const { attempts = 8, initialDelay = 250, maximumDelay = 5_000, silence = 45_000 } = source.options ?? {}
  let lastEventId = source.lastEventId
  let { chatId } = source
  let runId: string | undefined
  let accepted = source.repeatable
  let open = source.open
  let failures = 0
  for (;;) {
    let cut: unknown
    try {
      for await (const frame of connect({ open, silence, impatient: accepted, signal: source.signal })) {
        if (frame === undefined) {
          accepted = true
          continue
        }
        const { event, id } = frame
        if (event.type === "metadata") {
          if (runId === event.id) continue
          if (runId !== undefined) {
            throw new CastellanError({
              code: "stream_lost",
              message: "the stream was cut, and another run has taken its place"
            })
          }
          runId = event.id
          chatId = event.chat_id
        } else if (event.type !== "done" && isRepeat(id, lastEventId)) continue
        if (id !== "") lastEventId = id
        failures = 0
        yield event
        if (event.type === "done") return
      }
    } catch (error) {
      source.signal?.throwIfAborted()
      if (!(error instanceof CastellanError) || !error.isTransient || !accepted) throw error
      cut = error
    }
    const chat = chatId
    if (chat === undefined || failures >= attempts) {
      throw new CastellanError({
        code: "stream_lost",
        message: chat === undefined ? "the stream was cut before it named its chat" : "the stream was cut",
        cause: cut
      })
    }
    const asked = cut instanceof CastellanError ? (cut.retryAfterSeconds ?? 0) * 1_000 : 0
    await sleep(Math.max(asked, spread(Math.min(maximumDelay, initialDelay * 2 ** failures))), source.signal)
    failures += 1
    open = (signal) => source.resume(chat, lastEventId, signal)
  }
}
