/**
 * Says in one line which field of a request broke which rule, such as
 * `limit: must be an integer between 1 and 100, got "abc"`.
 *
 * The rule is the `message` that the schema of the field carries. What was sent is echoed only where the decoder was
 * told to report it (`reportInput`), and never more than a few characters of it.
 *
 * Source: decisions.md §1 ("with a message that names the field and the rule").
 */
import * as SchemaIssue from "effect/SchemaIssue"

/** Characters of the caller's input that a message repeats at most. */
export const echoLength = 60

/** Where an issue is, the rule that it broke, and what was sent there. */
interface Finding {
  readonly path: ReadonlyArray<PropertyKey>
  readonly rule: string
  /** The issue at the field itself, before any transformation: its input is what the caller sent. */
  readonly origin: SchemaIssue.Issue
}

const messageOf = (annotations: { readonly message?: unknown } | undefined): string | undefined =>
  typeof annotations?.message === "string" ? annotations.message : undefined

/** The rule that a node of the issue states itself. */
const ruleAt = (issue: SchemaIssue.Issue): string | undefined => {
  switch (issue._tag) {
    case "Filter":
      return messageOf(issue.filter.annotations)
    case "InvalidValue":
    case "Forbidden":
      return messageOf(issue.annotations)
    case "MissingKey":
      return "is missing"
    case "Pointer":
      return undefined
    case "Composite":
      // What it groups is more exact, unless it is the structure of a field, and then that is found further down.
      return undefined
    case "Encoding":
    case "InvalidType":
    case "UnexpectedKey":
    case "OneOf":
      return messageOf(issue.ast.annotations)
    case "AnyOf": {
      // A union of one, as the body of one media type is, has its member's rule; so has a body that may be left out.
      const [only, ...others] = issue.ast.types.filter(({ _tag }) => _tag !== "Undefined" && _tag !== "Null")
      return messageOf(issue.ast.annotations) ?? (others.length === 0 ? messageOf(only?.annotations) : undefined)
    }
  }
}

/** A rule in the words of this package; Effect's own say "Expected …, got …". */
const asRule = (message: string): string =>
  message.startsWith("Expected ") ? message.replace(/^Expected /, "must be ").replace(/, got .*$/s, "") : message

/** The rule of an issue whose schema states none. */
const fallback = (issue: SchemaIssue.Issue): string => {
  const message = SchemaIssue.makeFormatterStandardSchemaV1()(issue).issues[0]?.message
  return message === undefined || message.startsWith("Invalid data") ? "must be a valid value" : message
}

/** Walks down to the first issue, and keeps the innermost rule that was stated on the way within its field. */
const find = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey>,
  origin: SchemaIssue.Issue,
  stated: string | undefined
): Finding => {
  const rule = ruleAt(issue) ?? stated
  switch (issue._tag) {
    case "Pointer":
      return find(issue.issue, [...path, ...issue.path], issue.issue, undefined)
    case "Filter":
    case "Encoding":
      return find(issue.issue, path, origin, rule)
    case "Composite":
      return find(issue.issues[0], path, origin, rule)
    case "AnyOf": {
      const [only] = issue.issues
      if (only !== undefined && issue.ast.types.length === 1) return find(only, path, origin, rule)
      // The member that got furthest into the value is the one that was meant.
      const deepest = issue.issues
        .map((member) => find(member, path, origin, rule))
        .toSorted((a, b) => b.path.length - a.path.length)[0]
      return deepest === undefined || deepest.path.length === path.length
        ? { path, rule: rule ?? fallback(issue), origin }
        : deepest
    }
    default:
      return { path, rule: rule ?? fallback(issue), origin }
  }
}

/** A path as people write it: `tools.connector_ids[0]`. */
const formatPath = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`),
    ""
  )

const shorten = (text: string): string => {
  const points = Array.from(text)
  return points.length <= echoLength ? text : `${points.slice(0, echoLength - 1).join("")}…`
}

/** What was sent, as far as it is fit to repeat: short scalars; of anything else only what kind of thing it is. */
const echo = (issue: SchemaIssue.Issue): string => {
  if (!SchemaIssue.hasInput(issue)) return ""
  const { input } = issue
  switch (typeof input) {
    case "string":
      return `, got ${JSON.stringify(shorten(input))}`
    case "number":
    case "boolean":
      return `, got ${String(input)}`
    case "undefined":
      return ""
    default:
      return input === null ? ", got null" : Array.isArray(input) ? ", got an array" : ", got an object"
  }
}

/** The line for an issue: its first field and rule. */
export const format = (issue: SchemaIssue.Issue): string => {
  const { origin, path, rule } = find(issue, [], issue, undefined)
  const field = path.length === 0 ? "body" : formatPath(path)
  return `${field}: ${asRule(rule)}${echo(origin)}`
}
