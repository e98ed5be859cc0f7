/**
 * A process that answers wrongly, in the way its last argument but one says: the directory for compiled code, which
 * the server passes, ends with it.
 */
import { Socket } from "node:net"
import { basename } from "node:path"
import { encode } from "../../src/duckdb/internal/Frame.ts"

const output = new Socket({ fd: 3, readable: false, writable: true })
const send = (header: string, payload = new Uint8Array(0)): void => {
  for (const part of encode(header, payload)) output.write(part)
}

const answers: Readonly<Record<string, (id: number) => void>> = {
  noise: () => output.write("this is no frame, and its first bytes are a length of two thousand million"),
  "not-json": () => send("{"),
  "unknown-tag": (id) => send(JSON.stringify({ _tag: "Root", id })),
  "wrong-types": (id) => send(JSON.stringify({ _tag: "Rows", id, columns: "all", rowCount: -1, truncated: 0 })),
  "another-id": (id) => send(JSON.stringify({ _tag: "Opened", id: id + 1000, readable: true })),
  twice: (id) => {
    send(JSON.stringify({ _tag: "Opened", id, readable: true }))
    send(JSON.stringify({ _tag: "Opened", id, readable: true }))
  },
  "too-long": () => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(1_500_000_000)
    output.write(length)
  },
  exit: () => process.exit(3)
}

process.stdin.once("data", () => answers[basename(process.argv[2] ?? "")]?.(1))
process.stdin.on("end", () => process.exit(0))
