/**
 * The library's own mechanics beside git's: a three-way merge of a long text, and what changed in a large tree.
 */
import { merge } from "@castellan/core/library/Merge"
import type { Tree } from "@castellan/core/library/Tree"
import { changes } from "@castellan/core/library/TreeChange"
import { apply } from "@castellan/core/library/TreeEdit"
import { Effect, Result } from "effect"
import type { Benchmark, Section, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { alternate, type Measured, type Rounds, slicesOf } from "../measure/Slices.ts"
import { ratio, summarize } from "../measure/Statistics.ts"
import { count, figure, iqr, range, ratioWithRange } from "../report/Figure.ts"
import * as Progress from "../report/Progress.ts"
import { gitFolder, peakOf, timed, writeText, writeTrees } from "./GitFolder.ts"
import { editedOf, editOf, textOf, treeOf } from "./Inputs.ts"

interface Plan {
  readonly rounds: Rounds
  readonly lines: number
  readonly files: number
  readonly edited: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rounds: { warming: 5, counted: 21 }, lines: 10_000, files: 100_000, edited: 100 },
  quick: { rounds: { warming: 2, counted: 7 }, lines: 10_000, files: 100_000, edited: 100 },
  smoke: { rounds: { warming: 0, counted: 1 }, lines: 400, files: 1_000, edited: 10 }
}

const ours = "Castellan"
const gitMerge = "git merge-file, a process"
const gitDiff = "git diff-tree --raw, a process"
const oursEdit = "Castellan, applying the edits as well"

interface Slice {
  readonly milliseconds: number
  /** What the heap grew by; what is shared with the inputs is no growth. Absent for other processes. */
  readonly heapBytes: number | undefined
}

/** Runs something here, and checks what it comes to. */
const here = <A>(work: () => A, check: (result: A) => string | undefined): Effect.Effect<Slice, BenchmarkFailure> =>
  Effect.suspend(() => {
    const before = process.memoryUsage().heapUsed
    const started = performance.now()
    const result = work()
    const milliseconds = performance.now() - started
    const heapBytes = Math.max(0, process.memoryUsage().heapUsed - before)
    const wrong = check(result)
    return wrong === undefined
      ? Effect.succeed({ milliseconds, heapBytes })
      : Effect.fail(new BenchmarkFailure({ message: wrong }))
  })

const there = (
  folder: string,
  args: ReadonlyArray<string>,
  check: (output: string) => string | undefined
): Effect.Effect<Slice, BenchmarkFailure> =>
  Effect.flatMap(timed(folder, args), ({ milliseconds, output }) => {
    const wrong = check(output)
    return wrong === undefined
      ? Effect.succeed({ milliseconds, heapBytes: undefined })
      : Effect.fail(new BenchmarkFailure({ message: wrong }))
  })

const section = (
  caption: string,
  measured: ReadonlyArray<Measured<Slice>>,
  peer: string,
  peersPeak: number | undefined
): Section => {
  const times = (name: string): ReadonlyArray<number> => slicesOf(measured, name).map((one) => one.milliseconds)
  return {
    caption,
    table: {
      columns: ["by", "ms", "min–max", "IQR", `÷ ${peer}`, "memory MiB"],
      rows: measured.map(({ name, slices }) => {
        const summary = summarize(times(name))
        const heaps = slices.flatMap(({ heapBytes }) => heapBytes ?? [])
        const bytes = name === peer ? peersPeak : heaps.length === 0 ? undefined : summarize(heaps).median
        return [
          name,
          figure(summary.median),
          range(summary),
          iqr(summary),
          name === peer ? "1" : ratioWithRange(ratio(times(name), times(peer))),
          bytes === undefined ? "–" : figure(bytes / 1024 ** 2)
        ]
      })
    }
  }
}

const tell = ({ milliseconds }: Slice): string => `${figure(milliseconds)} ms`

/** The benchmark. */
export const library: Benchmark = {
  name: "library",
  title: "Library",
  about:
    "A three-way merge of a text in which each side edited a line in every two hundred, beside `git merge-file`; and what changed between two trees of many files, both in memory, beside `git diff-tree -r --raw` over a packed repository. git is a whole process each time, which is how a service would run it; the merged text and the list of changed files must be the same. Memory is the most that git's process had resident, its program included, and what our heap grew by, beside the inputs.",
  run: Effect.fnUntraced(function* ({ size }) {
    const plan = plans[size]
    const folder = yield* gitFolder
    const text = textOf(plan.lines)
    const edited = editedOf(plan.files, plan.edited)
    yield* Effect.sync(() => {
      writeText(folder, text)
      writeTrees(folder, plan.files, edited)
    })
    const mergeCommand = ["merge-file", "-p", "-q", "head", "base", "change"]
    const diffCommand = ["diff-tree", "-r", "--raw", "one", "two"]
    const reference = yield* timed(folder, mergeCommand)
    const isText = (merged: string): string | undefined =>
      merged === reference.output ? undefined : "the two merges are not the same text"
    yield* Progress.say("  merge")
    const merged = yield* alternate(
      [
        { name: gitMerge, slice: there(folder, mergeCommand, isText), tell },
        {
          name: ours,
          slice: here(
            () => merge(text),
            (result) => (result._tag === "Clean" ? isText(result.text) : "the merge is a conflict")
          ),
          tell
        }
      ],
      plan.rounds
    )
    yield* Progress.say("  tree")
    const before = treeOf(plan.files)
    const edits = edited.map((index) => editOf(index, true))
    const after = Result.getOrThrow(apply(before, edits))
    const git = yield* timed(folder, ["rev-parse", "one^{tree}", "two^{tree}"])
    if (git.output !== `${before.id}\n${after.id}\n`) {
      return yield* new BenchmarkFailure({ message: "the trees have other ids than git's" })
    }
    const isCount = (found: number): string | undefined =>
      found === plan.edited ? undefined : `${found} changes were found, not ${plan.edited}`
    const compare = (now: Tree): number => changes(before, now).length
    const compared = yield* alternate(
      [
        {
          name: gitDiff,
          slice: there(folder, diffCommand, (output) => isCount(output.split("\n").length - 1)),
          tell
        },
        { name: ours, slice: here(() => compare(after), isCount), tell },
        {
          name: oursEdit,
          slice: here(() => compare(Result.getOrThrow(apply(before, edits))), isCount),
          tell
        }
      ],
      plan.rounds
    )
    return {
      sections: [
        section(
          `A three-way merge of ${count(plan.lines)} lines`,
          merged,
          gitMerge,
          yield* peakOf(folder, mergeCommand)
        ),
        section(
          `${count(plan.edited)} changed files in a tree of ${count(plan.files)}`,
          compared,
          gitDiff,
          yield* peakOf(folder, diffCommand)
        )
      ],
      goals: [],
      measured: `${plan.rounds.counted} rounds after ${plan.rounds.warming} for warming, taking turns; each result is checked.`
    }
  })
}
