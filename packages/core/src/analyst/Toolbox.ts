/**
 * Tools with their handlers: arguments are decoded, results are encoded, and whatever a model writes, the answer is
 * either the tool's result or a sentence about what was wrong.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ToolCall, ToolDescription } from "../model/LanguageModels.ts"
import { ToolFailure } from "./ToolFailure.ts"

/** A tool, ready to be called. */
export interface BoundTool {
  readonly description: ToolDescription
  /** Runs the tool on undecoded arguments; answers with JSON text. */
  readonly run: (input: unknown) => Effect.Effect<string, ToolFailure>
}

/** A tool as it is declared: see `Tool.ts`. */
export interface ToolDeclaration<
  Parameters extends Schema.Codec<unknown, unknown>,
  Output extends Schema.Codec<unknown, unknown>
> {
  readonly name: string
  readonly description: string
  readonly parameters: Parameters
  readonly result: Output
}

/** A JSON Schema document of a tool's parameters, references inside. */
const parametersOf = (schema: Schema.Codec<unknown, unknown>): ToolDescription["parameters"] => {
  const document = Schema.toJsonSchemaDocument(Schema.toCodecJson(schema))
  return {
    ...document.schema,
    ...(Object.keys(document.definitions).length === 0 ? {} : { $defs: document.definitions })
  }
}

/** How deep a model's arguments may be nested: what reads them goes through them by recursion here and there. */
const maximumDepth = 512

/** Whether a value of JSON is nested too deep, told level by level. */
const isTooDeep = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; depth <= maximumDepth; depth++) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []))
    if (level.length === 0) return false
  }
  return true
}

/** Binds a declared tool to its handler. */
export const bind = <Parameters extends Schema.Codec<unknown, unknown>, Output extends Schema.Codec<unknown, unknown>>(
  tool: ToolDeclaration<Parameters, Output>,
  handler: (parameters: Parameters["Type"]) => Effect.Effect<Output["Type"], ToolFailure>
): BoundTool => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(tool.parameters), { errors: "all" })
  const encode = Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(tool.result)))
  return {
    description: { name: tool.name, description: tool.description, parameters: parametersOf(tool.parameters) },
    run: Effect.fnUntraced(function* (input) {
      if (isTooDeep(input)) {
        const message = `invalid arguments of ${tool.name}: they must be nested at most ${maximumDepth} levels deep`
        return yield* new ToolFailure({ message })
      }
      const parameters = yield* decode(input).pipe(
        Effect.mapError((error) => new ToolFailure({ message: `invalid arguments of ${tool.name}: ${error.message}` }))
      )
      return yield* Effect.orDie(encode(yield* handler(parameters)))
    })
  }
}

/** Runs a model's call with the tools that were on offer; a call of any other is refused. */
export const call = (offered: ReadonlyArray<BoundTool>, request: ToolCall): Effect.Effect<string, ToolFailure> => {
  const tool = offered.find((candidate) => candidate.description.name === request.name)
  return tool === undefined
    ? Effect.fail(
        new ToolFailure({ message: `the tool ${JSON.stringify(request.name.slice(0, 80))} is not available` })
      )
    : tool.run(request.arguments)
}
