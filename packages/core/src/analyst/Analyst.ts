/**
 * The analyst: the loop from a question to its answer. It asks the model, runs the tools that the model calls, and
 * tells the run log of everything; it is bounded in steps, time and tokens.
 *
 * Source: architecture.md §3.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { AssetStore } from "../asset/AssetStore.ts"
import { ChartRenderer } from "../asset/ChartRenderer.ts"
import { CellEvent } from "../chat/CellState.ts"
import { ChatStore } from "../chat/ChatStore.ts"
import * as Transcript from "../chat/Transcript.ts"
import * as Upload from "../chat/Upload.ts"
import { ConnectorDriver } from "../connector/ConnectorDriver.ts"
import { ConnectorQueries } from "../connector/ConnectorQueries.ts"
import { Connectors } from "../connector/Connectors.ts"
import { ConnectorStore } from "../connector/ConnectorStore.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { LanguageModels, ModelMessage } from "../model/LanguageModels.ts"
import { OntologyEngine } from "../ontology/OntologyEngine.ts"
import { OntologyStore } from "../ontology/OntologyStore.ts"
import type { Run, RunUsage } from "../run/Run.ts"
import type { RunMeter } from "../run/RunMeter.ts"
import { RunLimits } from "../run/RunLimits.ts"
import { RunLog } from "../run/RunLog.ts"
import { ChatSandcastles } from "../sandcastle/ChatSandcastles.ts"
import { WebSearch } from "../search/WebSearch.ts"
import { historyOf } from "./History.ts"
import { instructions } from "./Instructions.ts"
import * as Message from "./Message.ts"
import * as ResultShelf from "./ResultShelf.ts"
import type { RunContext } from "./RunContext.ts"
import * as Toolbox from "./Toolbox.ts"
import { assetTools } from "./tools/AssetTools.ts"
import { ontologyTools } from "./tools/OntologyTools.ts"
import { sandboxTools } from "./tools/SandboxTools.ts"
import { sqlTools } from "./tools/SqlTools.ts"
import { webTools } from "./tools/WebTools.ts"
import { takeTurn } from "./Turn.ts"

/** The analyst could not answer. The message is fit for the user. */
export class AnalystFailure extends Schema.TaggedError<AnalystFailure>()("AnalystFailure", {
  message: Schema.String
}) {}

/** Answers questions. */
export class Analyst extends Context.Service<
  Analyst,
  {
    /**
     * Works a run: everything between its opening and its `Done`, which the runner tells. It adds what it
     * uses up to the meter as it goes, so that an interruption loses none of it, and has it kept after each call of a
     * model, so that the end of the process loses no more than one.
     */
    readonly answer: (run: Run, meter: RunMeter) => Effect.Effect<void, AnalystFailure>
  }
>()("@castellan/core/analyst/Analyst") {}

/** The analyst over its ports. */
export const layer: Layer.Layer<
  Analyst,
  never,
  | AssetStore
  | ChartRenderer
  | ChatSandcastles
  | ChatStore
  | ConnectorDriver
  | ConnectorQueries
  | Connectors
  | ConnectorStore
  | LanguageModels
  | OntologyEngine
  | OntologyStore
  | RunLog
  | SecureRandom.SecureRandom
  | WebSearch
> = Layer.effect(
  Analyst,
  Effect.gen(function* () {
    const assets = yield* AssetStore
    const charts = yield* ChartRenderer
    const chats = yield* ChatStore
    const sandcastles = yield* ChatSandcastles
    const driver = yield* ConnectorDriver
    const connectors = yield* Connectors
    const queries = yield* ConnectorQueries
    const connectorStore = yield* ConnectorStore
    const models = yield* LanguageModels
    const engine = yield* OntologyEngine
    const ontologies = yield* OntologyStore
    const log = yield* RunLog
    const web = yield* WebSearch
    const limits = yield* RunLimits
    const random = yield* SecureRandom.SecureRandom
    const nextId = Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)

    const prepare = Effect.fnUntraced(function* (run: Run) {
      const usable = yield* Effect.mapError(
        connectors.usableBy(run.principal, run.tools.connectorIds),
        (denied) => new AnalystFailure({ message: denied.message })
      )
      const context: RunContext = {
        run,
        connectors: usable,
        ontology: {
          files: yield* ontologies.files(run.organizationId),
          connectors: (yield* connectorStore.list(run.organizationId)).map(({ connector }) => connector),
          visible: usable.map((connector) => connector.name)
        },
        limits,
        results: yield* ResultShelf.make,
        emit: (event) => log.append(run, [event]),
        nextId
      }
      return context
    })

    const history = Effect.fnUntraced(function* (run: Run) {
      const runs = yield* chats.runs(run.organizationId, run.chatId)
      const earlier = runs.filter((candidate) => candidate.id !== run.id)
      const logs = yield* Effect.forEach(earlier, (candidate) => log.read(candidate, 0))
      return historyOf(
        logs.map((entries) => Transcript.ofEntries(entries)),
        limits.historyCharacters
      )
    })

    /** The tools over the chat's sandbox, for whoever may execute anything in one. */
    const sandbox = Effect.fnUntraced(function* (context: RunContext) {
      const { run } = context
      if (!run.tools.python || !run.principal.holds("sandcastle:execute")) return []
      // Most questions run nothing: the sandcastle is looked for when something is run first.
      const sandcastle = yield* Effect.cached(sandcastles.of(run))
      return yield* sandboxTools(context, { assets, charts, sandcastle, capabilities: sandcastles.capabilities })
    })

    const converse = Effect.fnUntraced(function* (context: RunContext, message: Message.Message, meter: RunMeter) {
      const { run } = context
      const tools = [
        ...(run.tools.ontology ? ontologyTools(context, { engine, queries }) : []),
        ...(run.tools.sql ? sqlTools(context, { driver, queries }) : []),
        ...(run.tools.webSearch ? webTools(context, web) : []),
        ...(yield* sandbox(context)),
        ...assetTools(context, { assets, charts })
      ]
      const messages = [...(yield* history(run)), question(run)]
      for (let step = 1; step <= limits.maxSteps; step++) {
        const used = yield* meter.used
        const left = limits.maxOutputTokens - used.outputTokens
        if (left <= 0)
          return yield* new AnalystFailure({ message: "the run used up its tokens before it had an answer" })
        const mustAnswer = step === limits.maxSteps || used.toolCalls >= limits.maxToolCalls
        const offered = mustAnswer ? [] : tools
        const turn = yield* takeTurn(
          models,
          {
            model: run.model,
            instructions: instructions(context, yield* DateTime.now),
            messages: [...messages],
            tools: offered.map((tool) => tool.description),
            maxOutputTokens: left
          },
          limits,
          message.write
        ).pipe(
          Effect.tapError((error) => Effect.logWarning("the model failed", error)),
          Effect.mapError((error) => new AnalystFailure({ message: error.message }))
        )
        yield* meter.add(turn.usage)
        yield* meter.keep
        if (turn.cutOff) return yield* new AnalystFailure({ message: "the model did not come to an end" })
        if (turn.calls.length === 0) {
          // A model may have said all that it had to say before its last call.
          if (yield* message.isEmpty) return yield* new AnalystFailure({ message: "the model gave no answer" })
          return
        }
        yield* message.paragraph
        messages.push(ModelMessage.cases.Answer.make({ text: turn.text, toolCalls: turn.calls }))
        for (const call of turn.calls) {
          const { toolCalls } = yield* meter.add(oneToolCall)
          const refused = toolCalls > limits.maxToolCalls
          const result = yield* Effect.result(
            refused
              ? Effect.fail({ message: "the run has used up its tool calls; answer now" })
              : Toolbox.call(offered, call)
          )
          messages.push(
            ModelMessage.cases.ToolResult.make({
              callId: call.id,
              name: call.name,
              content: result._tag === "Success" ? result.success : result.failure.message,
              failed: result._tag === "Failure"
            })
          )
        }
      }
      return yield* new AnalystFailure({ message: "the run used up its steps before it had an answer" })
    })

    return Analyst.of({
      answer: Effect.fn("Analyst.answer")(function* (run, meter) {
        const context = yield* prepare(run)
        const message = yield* Message.make(context)
        yield* converse(context, message, meter).pipe(
          Effect.onExit((exit) => {
            if (Exit.isSuccess(exit)) return message.end(CellEvent.cases.Complete.make({}))
            return message.end(
              Cause.hasInterruptsOnly(exit.cause)
                ? CellEvent.cases.Halt.make({})
                : CellEvent.cases.Fail.make({ error: "the run failed" })
            )
          })
        )
      })
    })
  })
)

const question = (run: Run): ModelMessage =>
  ModelMessage.cases.Question.make({ text: Upload.toldWith(run.question, run.files) })

const oneToolCall: RunUsage = { inputTokens: 0, outputTokens: 0, toolCalls: 1 }
