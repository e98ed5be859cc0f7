/**
 * What the runner and a server process say to each other, over the channel that Node opens between them. It has no
 * dependencies: the servers that are compared must not carry each other's weight.
 */

/** A server listens. */
export interface Ready {
  readonly type: "ready"
  readonly port: number
  /** A credential that the server accepts. */
  readonly bearer: string
}

/** The runner asks something of the server that no client could. */
export interface Order {
  readonly type: "order"
  readonly id: number
  readonly command: string
  readonly input: string
}

/** The server has done so. */
export interface Done {
  readonly type: "done"
  readonly id: number
  readonly output: string
}

/** The server could not. */
export interface Failed {
  readonly type: "failed"
  readonly id: number
  readonly message: string
}

/** What a server says. */
export type Answer = Ready | Done | Failed

const has = <Key extends string>(value: unknown, key: Key): value is { readonly [K in Key]: unknown } =>
  typeof value === "object" && value !== null && key in value

const hasText = <Key extends string>(value: unknown, key: Key): value is { readonly [K in Key]: string } =>
  has(value, key) && typeof value[key] === "string"

const hasNumber = <Key extends string>(value: unknown, key: Key): value is { readonly [K in Key]: number } =>
  has(value, key) && typeof value[key] === "number"

/** Reads what came over the channel as an order. */
export const orderOf = (message: unknown): Order | undefined =>
  hasText(message, "type") &&
  message.type === "order" &&
  hasNumber(message, "id") &&
  hasText(message, "command") &&
  hasText(message, "input")
    ? { type: "order", id: message.id, command: message.command, input: message.input }
    : undefined

/** Reads what came over the channel as an answer. */
export const answerOf = (message: unknown): Answer | undefined => {
  if (!hasText(message, "type")) return undefined
  if (message.type === "ready" && hasNumber(message, "port") && hasText(message, "bearer")) {
    return { type: "ready", port: message.port, bearer: message.bearer }
  }
  if (message.type === "done" && hasNumber(message, "id") && hasText(message, "output")) {
    return { type: "done", id: message.id, output: message.output }
  }
  if (message.type === "failed" && hasNumber(message, "id") && hasText(message, "message")) {
    return { type: "failed", id: message.id, message: message.message }
  }
  return undefined
}

/** What a server process has used up since its start. */
export interface Usage {
  /** User and system time of all of its threads, in microseconds. */
  readonly cpuMicros: number
  /** Resident memory, in bytes. */
  readonly residentBytes: number
}

/** The order that every server knows: it answers with a `Usage` as JSON. */
export const usageCommand = "usage"

/** Reads the answer to `usageCommand`. */
export const usageOf = (output: string): Usage | undefined => {
  const value: unknown = JSON.parse(output)
  return hasNumber(value, "cpuMicros") && hasNumber(value, "residentBytes")
    ? { cpuMicros: value.cpuMicros, residentBytes: value.residentBytes }
    : undefined
}
