/**
 * How deep the JSON of a request may be nested. What reads a body goes through it by recursion here and there: a
 * predicate of predicates, a value that is written out again. So that this comes to an end whatever is sent, a body is
 * looked at as text, before anything is made of it.
 *
 * Source: decisions.md §1 ("names the field and the rule").
 */
import * as Effect from "effect/Effect"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import { HttpApiSchemaError } from "effect/http-api/HttpApiError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/**
 * How deep a field of a body may be nested, itself included: more than any operation has a use for, and a small part of
 * what recursion gets through. An operation may take less.
 */
export const maximumDepth = 512

/** Characters of a field's name that a message repeats at most: it is whatever was sent. */
const longestName = 60

/** Where a text is nested too deep. */
export interface TooDeep {
  /** The field of the body that is, as the text writes it; nothing where the body is no object. */
  readonly field: string | undefined
}

/** Where the string ends that begins at an index. */
const endOfString = (text: string, start: number): number => {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '"') return at
    if (character === "\\") at += 1
  }
  return text.length
}

/** Where a JSON text is nested too deep; nothing where it is not. Of what is no JSON, it says what the brackets say. */
export const tooDeep = (text: string): TooDeep | undefined => {
  // Each level takes a character: most bodies are told by their length.
  if (text.length <= maximumDepth) return undefined
  let depth = 0
  let isObject = false
  let name = ""
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charAt(at)) {
      case '"': {
        const end = endOfString(text, at)
        // The last string of the outermost level before something is opened there is the name of it.
        if (depth === 1) name = text.slice(at + 1, end)
        at = end
        break
      }
      case "{":
      case "[":
        if (depth === 0) isObject = text.charAt(at) === "{"
        depth += 1
        if (depth > maximumDepth + 1) return { field: isObject ? name : undefined }
        break
      case "}":
      case "]":
        depth -= 1
    }
  }
  return undefined
}

const rule = `must not be nested more than ${maximumDepth} deep`

const refused = ({ field }: TooDeep): HttpApiSchemaError => {
  const issue = new SchemaIssue.InvalidValue({ message: rule })
  const path = field === undefined ? [] : [field.length <= longestName ? field : `${field.slice(0, longestName)}…`]
  return new HttpApiSchemaError({
    kind: "Payload",
    cause: new Schema.SchemaError(new SchemaIssue.Pointer(path, issue))
  })
}

const takesJson = ({ payload }: HttpApiEndpoint.Top): boolean =>
  [...payload.values()].some(({ encoding }) => encoding._tag === "Json")

const isJson = (contentType: string | undefined): boolean =>
  contentType === undefined || /^\s*application\/json\s*(?:;|$)/i.test(contentType)

/** An operation that is not begun with a body that is nested too deep: its schema has refused it, then. */
export const bounded = <A, E, R>(operation: Effect.Effect<A, E, R>, endpoint: HttpApiEndpoint.Top) =>
  takesJson(endpoint)
    ? Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        isJson(request.headers["content-type"])
          ? Effect.flatMap(Effect.orDie(request.text), (text): Effect.Effect<A, E | HttpApiSchemaError, R> => {
              const found = tooDeep(text)
              return found === undefined ? operation : Effect.fail(refused(found))
            })
          : operation
      )
    : operation
