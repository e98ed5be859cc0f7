/**
 * Commands as bytes.
 */
import { type Command, maximumLine } from "./Command.ts"

const utf8 = new TextEncoder()

/** Bytes of a payload that is copied behind its line: each part that is sent wakes the other side. */
const copied = 64 * 1024

/** The line of a command, its newline included. */
export const line = ({ id, nonce, order }: Pick<Command, "id" | "nonce" | "order">): Uint8Array =>
  utf8.encode(`${JSON.stringify({ id, nonce, ...order })}\n`)

/** Whether the line of a command is short enough to be sent. */
export const fits = (bytes: Uint8Array): boolean => bytes.length <= maximumLine

/** The bytes of a command, as parts to send one after the other, so that a large payload is not copied. */
export const encode = (command: Command): ReadonlyArray<Uint8Array> => {
  const { payload } = command
  if (payload.length === 0) return [line(command)]
  return payload.length > copied ? [line(command), payload] : [Buffer.concat([line(command), payload])]
}
