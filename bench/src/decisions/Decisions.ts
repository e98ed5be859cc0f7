/**
 * What a decision costs: ours beside CASL, casbin and Cedar on the same scenario; and a change of many paths.
 */
import * as ApprovalPolicy from "@castellan/core/change/ApprovalPolicy"
import { Effect } from "effect"
import type { Benchmark, Goal, Section, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { alternate, type Measured, type Rounds, slicesOf } from "../measure/Slices.ts"
import { summarize } from "../measure/Statistics.ts"
import { count, figure, iqr, range } from "../report/Figure.ts"
import { comparison } from "../report/Comparison.ts"
import * as Progress from "../report/Progress.ts"
import { manyPaths } from "./Approvals.ts"
import { casbin } from "./casbin.ts"
import { casl } from "./casl.ts"
import { castellan } from "./castellan.ts"
import { cedar } from "./cedar.ts"
import type { Engine } from "./Engine.ts"
import { questions } from "./Scenario.ts"

interface Plan {
  readonly rounds: Rounds
  readonly sizes: readonly [small: number, large: number]
  readonly paths: number
  readonly folders: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rounds: { warming: 5, counted: 31 }, sizes: [1_000, 100_000], paths: 10_000, folders: 1_000 },
  quick: { rounds: { warming: 2, counted: 11 }, sizes: [1_000, 100_000], paths: 10_000, folders: 1_000 },
  smoke: { rounds: { warming: 0, counted: 1 }, sizes: [1_000, 2_000], paths: 200, folders: 20 }
}

const engines: ReadonlyArray<Engine> = [castellan, casl, casbin, cedar]

/** Microseconds a question, over one slice of questions, each answer checked. */
type Slice = number

const measure = Effect.fnUntraced(function* (policies: number, rounds: Rounds) {
  const variants = yield* Effect.forEach(
    engines.filter(({ most = Number.POSITIVE_INFINITY }) => policies <= most),
    Effect.fnUntraced(function* (engine) {
      const { answer } = yield* engine.prepare(policies)
      const asked = questions(engine.questions(policies))
      const slice: Effect.Effect<Slice, BenchmarkFailure> = Effect.suspend(() => {
        let wrong = 0
        const started = performance.now()
        for (const question of asked) if (answer(question) !== question.allowed) wrong += 1
        const took = performance.now() - started
        return wrong === 0
          ? Effect.succeed((took * 1000) / asked.length)
          : Effect.fail(new BenchmarkFailure({ message: `${engine.name} answered ${wrong} questions otherwise` }))
      })
      return { name: engine.name, slice, tell: (each: Slice) => `${figure(each)} µs` }
    })
  )
  return yield* alternate(variants, rounds)
})

const sectionOf = (policies: number, measured: ReadonlyArray<Measured<Slice>>): Section =>
  comparison({
    caption: `One decision, with ${count(policies)} folder policies and 50 roles`,
    of: "by",
    unit: "µs",
    measured,
    to: castellan.name
  })

const approvals = Effect.fnUntraced(function* (plan: Plan) {
  const { approver, reviewed, situation } = manyPaths(plan.paths, plan.folders)
  const timed = (name: string, work: () => string) => ({
    name,
    slice: Effect.suspend(() => {
      const started = performance.now()
      const reason = work()
      const took = performance.now() - started
      return reason === "approved" || reason === "administrator"
        ? Effect.succeed(took)
        : Effect.fail(new BenchmarkFailure({ message: `${name} came to ${reason}` }))
    }),
    tell: (took: number) => `${figure(took)} ms`
  })
  return yield* alternate(
    [
      timed(
        "Castellan: are its approvals complete",
        () => ApprovalPolicy.decideStanding(ApprovalPolicy.standing(reviewed, situation)).reason
      ),
      timed(
        "Castellan: may somebody approve it",
        () => ApprovalPolicy.decideApproval(reviewed, situation, approver).reason
      )
    ],
    plan.rounds
  )
})

/** The benchmark. */
export const decisions: Benchmark = {
  name: "decisions",
  title: "Decisions",
  about:
    "May somebody with two of fifty roles approve a change of a file, in a library of so many folder policies? Our decision comes with its reason, its sentence and its facts, and finds the governing folder by the path; CASL and Cedar are handed the folder that governs, casbin goes through its lines (at 100,000 it would take more than a second a question, and is left out). The same thousand folders are asked about, however many there are beside them, and every answer is checked. Below that: the approvals of a change of many paths, in an organization of a thousand members.",
  run: Effect.fnUntraced(function* ({ size }) {
    const plan = plans[size]
    const [small, large] = plan.sizes
    yield* Progress.say(`  ${count(small)} policies`)
    const few = yield* measure(small, plan.rounds)
    yield* Progress.say(`  ${count(large)} policies`)
    const many = yield* measure(large, plan.rounds)
    yield* Progress.say(`  ${count(plan.paths)} paths`)
    const whole = yield* approvals(plan)
    const median = (of: ReadonlyArray<Measured<Slice>>): number => summarize(slicesOf(of, castellan.name)).median
    const longest = Math.max(...whole.map(({ slices }) => summarize(slices).median))
    const goals: ReadonlyArray<Goal> = [
      {
        aim: `a decision in at most 0.5 µs with ${count(small)} policies`,
        outcome: `${figure(median(few))} µs`,
        met: median(few) <= 0.5
      },
      {
        aim: `no growth worth the name up to ${count(large)} policies: at most twice`,
        outcome: `${figure(median(many) / median(few))} times`,
        met: median(many) <= 2 * median(few)
      },
      {
        aim: `the approvals of a change of ${count(plan.paths)} paths in at most 20 ms`,
        outcome: `${figure(longest)} ms`,
        met: longest <= 20
      }
    ]
    return {
      sections: [
        sectionOf(small, few),
        sectionOf(large, many),
        {
          caption: `A change of ${count(plan.paths)} paths in ${count(plan.folders)} governed folders`,
          table: {
            columns: ["question", "ms", "min–max", "IQR"],
            rows: whole.map(({ name, slices }) => {
              const summary = summarize(slices)
              return [name, figure(summary.median), range(summary), iqr(summary)]
            })
          }
        }
      ],
      goals,
      measured: `${plan.rounds.counted} rounds after ${plan.rounds.warming} for warming, taking turns; each answer is checked.`
    }
  })
}
