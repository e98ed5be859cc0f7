/**
 * Documents the query parameters of an operation by the schema of their values. The contract reads them from text, so
 * on its own the document would show a pattern of digits where an integer and its bounds are meant.
 */
import * as Schema from "effect/Schema"

/** An operation, as far as its parameters go. */
const Operation = Schema.StructWithRest(
  Schema.Struct({
    parameters: Schema.Array(
      Schema.StructWithRest(
        Schema.Struct({ name: Schema.String, in: Schema.String, required: Schema.Boolean, schema: Schema.Unknown }),
        [Schema.Record(Schema.String, Schema.Unknown)]
      )
    )
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

const decodeOperation = Schema.decodeUnknownSync(Operation)

const decodeObject = Schema.decodeUnknownSync(
  Schema.Struct({
    properties: Schema.Record(Schema.String, Schema.Unknown),
    required: Schema.optionalKey(Schema.Array(Schema.String))
  })
)

/** The endpoint annotation that shows the query's parameters as the fields of a struct. */
export const documented =
  ({ query }: { readonly query: Schema.Top }) =>
  (operation: Record<string, unknown>): Record<string, unknown> => {
    const { properties, required = [] } = decodeObject(Schema.toJsonSchemaDocument(query).schema)
    const decoded = decodeOperation(operation)
    return {
      ...decoded,
      parameters: decoded.parameters.map((parameter) =>
        parameter.in === "query" && Object.hasOwn(properties, parameter.name)
          ? { ...parameter, schema: properties[parameter.name], required: required.includes(parameter.name) }
          : parameter
      )
    }
  }
