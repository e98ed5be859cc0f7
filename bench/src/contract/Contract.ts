/**
 * What the contract costs: a long chat decoded and encoded through its schemas, beside `JSON.parse` and
 * `JSON.stringify` alone, which check nothing.
 */
import { ChatViewWire } from "@castellan/api/chat/ChatWire"
import { Effect, Schema } from "effect"
import type { Benchmark, Section, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { alternate, type Measured, type Rounds } from "../measure/Slices.ts"
import { count, figure } from "../report/Figure.ts"
import { comparison } from "../report/Comparison.ts"
import * as Progress from "../report/Progress.ts"
import { conversationOf } from "./Conversation.ts"

interface Plan {
  readonly rounds: Rounds
  readonly messages: number
  /** How often a slice does the same. */
  readonly times: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rounds: { warming: 5, counted: 31 }, messages: 1_000, times: 10 },
  quick: { rounds: { warming: 2, counted: 9 }, messages: 1_000, times: 5 },
  smoke: { rounds: { warming: 0, counted: 1 }, messages: 20, times: 1 }
}

const ours = "Castellan's contract"
const json = "JSON alone"

/** As an HTTP client reads it, and a server writes it. */
const wire = Schema.toCodecJson(ChatViewWire)
const decode = Schema.decodeUnknownSync(wire)
const encode = Schema.encodeSync(wire)

/** The milliseconds that something takes, once, of several times; what it comes to is checked afterwards. */
const timed = <A>(
  times: number,
  work: () => A,
  check: (result: A) => boolean
): Effect.Effect<number, BenchmarkFailure> =>
  Effect.suspend(() => {
    const started = performance.now()
    let result = work()
    for (let time = 1; time < times; time += 1) result = work()
    const milliseconds = (performance.now() - started) / times
    return check(result)
      ? Effect.succeed(milliseconds)
      : Effect.fail(new BenchmarkFailure({ message: "the chat is not what it was" }))
  })

const section = (caption: string, measured: ReadonlyArray<Measured<number>>): Section =>
  comparison({ caption, of: "by", unit: "ms", measured, to: json })

const tell = (milliseconds: number): string => `${figure(milliseconds)} ms`

/** The benchmark. */
export const contract: Benchmark = {
  name: "contract",
  title: "Contract",
  about:
    "A chat of 1,000 messages, 500 of them answers with two assets each, from its text to values that the contract vouches for, and back: every id, moment, number and word is checked. `JSON.parse` and `JSON.stringify` alone check nothing, and leave moments as texts.",
  run: Effect.fnUntraced(function* ({ size }) {
    const { messages, rounds, times } = plans[size]
    const plain = conversationOf(messages)
    const text = JSON.stringify(plain)
    const value = decode(plain)
    const isText = (written: string): boolean => written.length === text.length
    yield* Progress.say("  decode")
    const decoded = yield* alternate(
      [
        {
          name: json,
          slice: timed(
            times,
            (): unknown => JSON.parse(text),
            (read) => read !== undefined
          ),
          tell
        },
        {
          name: ours,
          slice: timed(
            times,
            () => decode(JSON.parse(text)),
            (read) => read.messages.length === messages
          ),
          tell
        }
      ],
      rounds
    )
    yield* Progress.say("  encode")
    const encoded = yield* alternate(
      [
        { name: json, slice: timed(times, () => JSON.stringify(plain), isText), tell },
        { name: ours, slice: timed(times, () => JSON.stringify(encode(value)), isText), tell }
      ],
      rounds
    )
    return {
      sections: [section("From text to values", decoded), section("From values to text", encoded)],
      goals: [],
      measured: `${count(messages)} messages in ${count(Buffer.byteLength(text))} bytes; ${rounds.counted} rounds of ${times} each`
    }
  })
}
