/**
 * The tools over the chat's sandbox: programs and commands. What they put out is shown as it comes, what they display
 * or leave behind becomes assets, and what the model is told has a bound. Whatever goes wrong, the model is told in words
 * that it can act on.
 *
 * Source: issue "Sandcastles", §2 ("The analyst gets `python` and `bash` tools"); decisions.md §4, §7.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import type { Asset } from "../../asset/Asset.ts"
import type { AssetStore } from "../../asset/AssetStore.ts"
import type { ChartRenderer } from "../../asset/ChartRenderer.ts"
import { CellContent, type CellOutput } from "../../chat/Cell.ts"
import type { ChatSandcastle, ChatUse, ChatUseFailure } from "../../sandcastle/ChatSandcastles.ts"
import * as ExecutionOutput from "../../sandcastle/ExecutionOutput.ts"
import type { Following } from "../../sandcastle/SandcastleExecutions.ts"
import type { SandboxCapabilities } from "../../sandcastle/SandboxRuntime.ts"
import * as SandboxPath from "../../sandcastle/SandboxPath.ts"
import type { RunContext } from "../RunContext.ts"
import * as SandboxDescription from "../SandboxDescription.ts"
import { type OpenCell, step, type StepOutcome } from "../Step.ts"
import { type ExecutionResult, RunBash, RunPython } from "../Tool.ts"
import { bind, type BoundTool } from "../Toolbox.ts"
import { ToolFailure } from "../ToolFailure.ts"
import * as ExecutionWatch from "./ExecutionWatch.ts"
import * as ProducedAssets from "./ProducedAssets.ts"
import { type NewAsset, publish } from "./Publishing.ts"

/** What the tools ask. */
export interface SandboxToolPorts {
  readonly assets: AssetStore["Service"]
  readonly charts: ChartRenderer["Service"]
  /** The sandcastle of the chat, looked for at most once. */
  readonly sandcastle: Effect.Effect<ChatSandcastle>
  readonly capabilities: SandboxCapabilities
}

/** Characters of output that the model reads of one execution. */
const outputForModel = 16_000

/** Files of one execution that become assets, and the bytes of one. */
const maximumFiles = 20
const maximumFileBytes = 25 * 1024 * 1024

/** Assets that executions of one run make, and the bytes of all of them. */
const maximumAssets = 100
const maximumAssetBytes = 200 * 1024 * 1024

/** A file that holds what an execution displayed: it is an asset already. */
const isKeptDisplay = (path: string): boolean =>
  /^outputs\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d+\./.test(path)

const asToolFailure = (error: ChatUseFailure): ToolFailure => new ToolFailure({ message: error.message })

const startedAnew =
  "the sandbox was started anew before this ran: variables, dataframes and files of earlier calls are gone"
const restarted = "Python had to be restarted: its variables and dataframes are gone, its files are there"

/** What the executions of one run share: which results are in the sandbox, and how much they have shown. */
interface Shared {
  readonly bound: ReadonlySet<string>
  readonly assets: number
  readonly assetBytes: number
}

const nothing: Shared = { bound: new Set(), assets: 0, assetBytes: 0 }

const bytesOf = ({ bodies }: NewAsset): number => bodies.reduce((sum, { content }) => sum + content.length, 0)

/** Names of results in a program. */
const resultNames = (code: string): ReadonlyArray<string> => [
  ...new Set([...code.matchAll(/\bresult_[1-9][0-9]{0,5}\b/g)].map(([name]) => name))
]

/** An optional list: absent where it is empty. */
const some = <Key extends string, A>(key: Key, all: ReadonlyArray<A>): { readonly [K in Key]?: ReadonlyArray<A> } => {
  const record: { [K in Key]?: ReadonlyArray<A> } = {}
  if (all.length > 0) record[key] = all
  return record
}

/** The tools over the sandbox of a chat, as far as it has what they need. */
export const sandboxTools = (context: RunContext, ports: SandboxToolPorts): Effect.Effect<ReadonlyArray<BoundTool>> =>
  Effect.map(Ref.make(nothing), (shared) => {
    const { assets, capabilities, charts } = ports

    /** Uses the chat's sandcastle. */
    const used = <A>(use: (sandcastle: ChatSandcastle) => Effect.Effect<ChatUse<A>, ChatUseFailure>) =>
      Effect.mapError(Effect.flatMap(ports.sandcastle, use), asToolFailure)

    /** Keeps an asset and tells of it, as far as the run has room for it. */
    const show = Effect.fnUntraced(function* (cell: OpenCell, made: NewAsset) {
      const room = yield* Ref.modify(shared, (before) => {
        const after = { ...before, assets: before.assets + 1, assetBytes: before.assetBytes + bytesOf(made) }
        const fits = after.assets <= maximumAssets && after.assetBytes <= maximumAssetBytes
        return [fits, fits ? after : before]
      })
      return room ? Option.some(yield* publish(context, assets, cell.id, made)) : Option.none<Asset>()
    })

    /** What an execution displayed and left, as assets of its cell, with a word about what is not among them. */
    const showAll = Effect.fnUntraced(function* (cell: OpenCell, title: string, seen: ExecutionWatch.Watched) {
      const made: Array<NewAsset> = []
      const notes: Array<string> = []
      for (const forms of seen.displays) {
        const unnamed = made.filter(({ name }) => name === title || name.startsWith(`${title} (`)).length
        const produced = yield* ProducedAssets.ofDisplay(
          unnamed === 0 ? title : `${title} (${unnamed + 1})`,
          forms,
          charts
        )
        if (produced._tag === "Asset") made.push(produced.asset)
        if (produced._tag === "Note") notes.push(produced.note)
      }
      if (seen.displaysLeftOut > 0) notes.push(`${seen.displaysLeftOut} more things were displayed than can be shown`)
      const files = [...new Set(ExecutionOutput.filesOf(seen.output))].filter((path) => !isKeptDisplay(path))
      for (const name of files.slice(0, maximumFiles)) {
        const path = SandboxPath.parse(name)
        if (Result.isFailure(path)) {
          notes.push(
            `the file ${JSON.stringify(name.slice(0, 200))} is not shown: its name ${SandboxPath.problem(name)}`
          )
          continue
        }
        const file = yield* Effect.result(used((sandcastle) => sandcastle.download(path.success)))
        if (Result.isFailure(file)) {
          notes.push(`the file ${name} is not shown: ${file.failure.message}`)
          continue
        }
        const { content } = file.success.answer
        if (content.length > maximumFileBytes) notes.push(`the file ${name} is not shown: it has more than 25 MiB`)
        else made.push(ProducedAssets.ofFile(path.success, content))
      }
      if (files.length > maximumFiles) notes.push(`${files.length - maximumFiles} more files were made than are shown`)
      const shown: Array<Asset> = []
      for (const one of made) {
        const published = yield* show(cell, one)
        if (Option.isSome(published)) shown.push(published.value)
      }
      if (shown.length < made.length) notes.push("this run has shown as much as it can: the rest is not shown")
      return { shown, notes }
    })

    /** What the model is told of an execution that failed. */
    const failureOf = (error: string, output: string, notes: ReadonlyArray<string>): ToolFailure =>
      new ToolFailure({
        message: [
          error,
          ...notes.map((note) => `Note: ${note}.`),
          ...(output === "" ? [] : [`Output before it ended:\n${output}`])
        ].join("\n"),
        shown: error
      })

    /** Runs something in the sandbox as a step. */
    const run = (
      title: string,
      toolName: string,
      input: string,
      work: (
        following: Following,
        anew: Effect.Effect<void>,
        note: (text: string) => Effect.Effect<void>
      ) => Effect.Effect<ChatUse<{ readonly executionId: CellOutput["executionId"] & {} }>, ToolFailure>
    ) =>
      step(context, { title, content: CellContent.cases.Tool.make({ toolName, input }) }, (cell) =>
        Effect.gen(function* () {
          const watch = yield* ExecutionWatch.make(cell)
          let lost = false
          const early: Array<string> = []
          const note = (text: string) => Effect.sync(() => void early.push(text))
          const anew = Ref.update(shared, (before) => {
            lost = true
            return { ...before, bound: new Set<string>() }
          })
          const following: Following = { timeout: context.limits.executionTimeout, observe: watch.observe }
          const use = yield* watch.during(work(following, anew, note))
          if (use.stateLost) yield* anew
          const seen = yield* watch.watched
          if (seen.output.stateLost) yield* Ref.update(shared, (before) => ({ ...before, bound: new Set<string>() }))
          const { notes, shown } = yield* showAll(cell, title, seen)
          const told = [
            ...(lost ? [startedAnew] : []),
            ...use.missing,
            ...early,
            ...(seen.output.stateLost ? [restarted] : []),
            ...notes
          ]
          const lines = ExecutionWatch.linesOf(seen.output)
          const preview = shown.find(({ content, kind }) => kind === "table" && content !== undefined)?.content
          const result: CellOutput = {
            executionId: use.answer.executionId,
            ...some("output", lines),
            ...some(
              "assets",
              shown.map(({ id }) => id)
            ),
            ...(preview === undefined ? {} : { dataframePreview: preview })
          }
          yield* cell.keep(result)
          const output = ExecutionWatch.bothEnds(ExecutionWatch.textOf(seen.output), outputForModel)
          const ending = ExecutionOutput.endingOf(seen.output)
          const exitCode = toolName === RunBash.name ? seen.output.finished?.exitCode : undefined
          const hasExited = exitCode !== undefined && seen.output.finished?.outcome === "failed"
          if (ending._tag === "Interrupt") return yield* failureOf("it was interrupted by the user", output, told)
          if (ending._tag === "Fail" && !(hasExited && seen.output.error === undefined)) {
            return yield* failureOf(ending.error, output, told)
          }
          const value: ExecutionResult = {
            output,
            ...(exitCode === undefined ? {} : { exit_code: exitCode }),
            ...some("dataframes", ExecutionOutput.dataframesOf(seen.output)),
            ...some(
              "assets",
              shown.map(({ kind, name }) => ({ name, kind }))
            ),
            ...some("notes", told)
          }
          const outcome: StepOutcome<ExecutionResult> = { value, result }
          return outcome
        })
      )

    /** Makes the results that a program names dataframes of the sandbox, where they are not yet. */
    const bindResults = Effect.fnUntraced(function* (
      code: string,
      anew: Effect.Effect<void>,
      note: (text: string) => Effect.Effect<void>
    ) {
      for (const name of resultNames(code)) {
        if ((yield* Ref.get(shared)).bound.has(name)) continue
        const table = yield* Effect.option(context.results.get(name))
        if (Option.isNone(table)) {
          // The sandbox may have one of this name still: it must not pass for what was found just now.
          yield* note(`${name} is no result of this question; what the sandbox has by that name, if anything, is older`)
          continue
        }
        const { stateLost } = yield* used((sandcastle) => sandcastle.bind(name, table.value))
        if (stateLost) yield* anew
        yield* Ref.update(shared, (before) => ({ ...before, bound: new Set([...before.bound, name]) }))
      }
    })

    const python = bind(
      { ...RunPython, description: `${RunPython.description} ${SandboxDescription.pythonSentences(capabilities)}` },
      ({ code, title }) =>
        run(title, RunPython.name, code, (following, anew, note) =>
          Effect.andThen(
            bindResults(code, anew, note),
            used((sandcastle) => sandcastle.execute(code, following))
          )
        )
    )

    const bash = bind(
      { ...RunBash, description: `${RunBash.description}${SandboxDescription.shellSentence(capabilities)}` },
      ({ command, title }) =>
        run(title, RunBash.name, command, (following) =>
          used((sandcastle) => sandcastle.exec({ command, kind: "bash", ...following }))
        )
    )

    return [
      ...(SandboxDescription.hasPython(capabilities) ? [python] : []),
      ...(SandboxDescription.hasShell(capabilities) ? [bash] : [])
    ]
  })
