/**
 * Requests of the contract's operations: each with the contract's own example, in which the ids of a populated world
 * stand for those of the example, by the name of the parameter or field. What nobody can fill is a defect of the test,
 * which says what to add.
 */
import type { BodyExample, Operation } from "./Operations.ts"

/** What stands for the ids of the examples. */
export interface Filling {
  /** The id in the paths of each kind of thing, by the first segment after the version: `chats`, `playbooks`. */
  readonly ids: { readonly [kind: string]: string }
  /** Other parameters of paths and queries, by name. */
  readonly parameters: { readonly [name: string]: string }
  /** Fields of bodies, by name, however deep they are. */
  readonly fields: { readonly [name: string]: unknown }
  /** What differs in one operation alone: parameters by name, and fields of its body. */
  readonly operations: {
    readonly [operation: string]: {
      readonly parameters?: { readonly [name: string]: string }
      readonly fields?: { readonly [name: string]: unknown }
    }
  }
}

/** One request, without its credential. */
export interface MatrixRequest {
  readonly operation: Operation
  /** Which of the operation's bodies it has, for people. */
  readonly variant: string
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string | FormData | undefined
}

/** Ids that only an example can have come from: UUIDs, commits, sandcastles. */
const exampleId = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{40}|sb_\w+)$/

const missing = (operation: Operation, what: string): never => {
  throw new Error(
    `${operation.name}: ${what}. Say in WorldFilling.ts (\`filling\`) what stands for it in a populated world.`
  )
}

/** A body of the example, with the world's ids by the names of their fields. */
const filled = (operation: Operation, filling: Filling, value: unknown, name: string): unknown => {
  const own = filling.operations[operation.name]?.fields ?? {}
  if (Object.hasOwn(own, name)) return own[name]
  if (Object.hasOwn(filling.fields, name)) return filling.fields[name]
  if (Array.isArray(value)) return value.map((item) => filled(operation, filling, item, `${name}[]`))
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(operation, filling, item, key)]))
  }
  if (typeof value !== "string") return value
  if (exampleId.test(value))
    return missing(operation, `the field \`${name}\` of its body is an id that nothing stands for`)
  // A part of a form may be JSON by itself.
  return value.startsWith("{") ? JSON.stringify(filled(operation, filling, JSON.parse(value), "")) : value
}

const parameter = (operation: Operation, filling: Filling, name: string): string => {
  const own = filling.operations[operation.name]?.parameters?.[name]
  if (own !== undefined) return own
  const kind = operation.path.split("/")[2] ?? ""
  const found = name === "id" ? filling.ids[kind] : filling.parameters[name]
  return found ?? missing(operation, `its parameter \`${name}\` of ${operation.path} is one that nothing stands for`)
}

const form = (body: unknown): FormData => {
  const parts = new FormData()
  for (const [name, value] of Object.entries(typeof body === "object" && body !== null ? body : {})) {
    if (name === "file") parts.set(name, new File([String(value)], "upload.csv", { type: "text/csv" }))
    else parts.set(name, typeof value === "string" ? value : JSON.stringify(value))
  }
  return parts
}

const bodyOf = (operation: Operation, filling: Filling, { example, mediaType }: BodyExample) => {
  if (example === undefined) return missing(operation, `its body has no example in ${mediaType}`)
  const body = filled(operation, filling, example, "")
  if (mediaType === "application/json") return { headers: { "content-type": mediaType }, body: JSON.stringify(body) }
  return mediaType === "multipart/form-data"
    ? { headers: {}, body: form(body) }
    : missing(operation, `its body is of ${mediaType}, which no request can be made of yet`)
}

/** The requests of an operation: one for each kind of body that it takes. */
export const requestsOf = (operation: Operation, filling: Filling): ReadonlyArray<MatrixRequest> => {
  const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(parameter(operation, filling, name))
  )
  const query = operation.required
    .filter((one) => one.in === "query")
    .map(({ name }) => `${name}=${encodeURIComponent(parameter(operation, filling, name))}`)
  const headers = Object.fromEntries(
    operation.required.filter((one) => one.in === "header").map(({ example, name }) => [name, String(example)])
  )
  const url = `http://castellan.example${path}${query.length === 0 ? "" : `?${query.join("&")}`}`
  if (operation.bodies.length === 0) return [{ operation, variant: "", url, headers, body: undefined }]
  return operation.bodies.map((example) => {
    const { body, headers: own } = bodyOf(operation, filling, example)
    const variant = operation.bodies.length === 1 ? "" : ` (${example.mediaType})`
    return { operation, variant, url, headers: { ...headers, ...own }, body }
  })
}
