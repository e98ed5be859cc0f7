/**
 * Commands as bytes.
 */
import { type Command, maximumLine } from "./Command.ts"

const utf8 = new TextEncoder()

/** The line of a command, its newline included. */
export const line = ({ id, nonce, order }: Pick<Command, "id" | "nonce" | "order">): Uint8Array =>
  utf8.encode(`${JSON.stringify({ id, nonce, ...order })}\n`)

/** Whether the line of a command is short enough to be sent. */
export const fits = (bytes: Uint8Array): boolean => bytes.length <= maximumLine

/** The bytes of a command, as parts to send one after the other, so that a large payload is not copied. */
export const encode = (command: Command): ReadonlyArray<Uint8Array> =>
  command.payload.length === 0 ? [line(command)] : [line(command), command.payload]
