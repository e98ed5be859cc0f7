/** Programs that look for a way out: 20 to 22. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { networkInterfaces } from "node:os"
import { type AbuseCase, alive, attempts, daring, opened, shell, webAssembly } from "../Abuse.ts"

/** The host's own addresses beside the loopback interface's. */
const addresses = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces())
    .flatMap((found) => found ?? [])
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => address)

/** A connection counts as open when the other side answers: some interpreters only pretend to connect. */
const connect = (address: string, port: number) => `
import socket
one = socket.socket()
one.settimeout(1)
one.connect((${JSON.stringify(address)}, ${port}))
one.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
if not one.recv(1): raise OSError("nobody")
`

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 20,
    title: "there is no way out: over TCP, UDP, names, HTTP, to the host, to its neighbours, over a Unix socket",
    run: Effect.fnUntraced(function* (host) {
      const session = yield* attempts(yield* opened, {
        loopback: connect("127.0.0.1", host.port),
        "the loopback of version 6": `import socket\none = socket.socket(socket.AF_INET6)\none.settimeout(1)\none.connect(("::1", ${host.port}))\nif not one.recv(1): raise OSError("nobody")`,
        ...Object.fromEntries(addresses().map((address) => [address, connect(address, host.port)])),
        "the cloud's metadata": connect("169.254.169.254", 80),
        "a name":
          'import socket\nif socket.gethostbyname("example.com").startswith(("0.", "127.", "172.29.")): raise OSError("invented")',
        HTTP: `import urllib.request\nurllib.request.urlopen("http://127.0.0.1:${host.port}/", timeout=1).read()`,
        "a Unix socket": `import socket\none = socket.socket(socket.AF_UNIX)\none.settimeout(1)\none.connect(${JSON.stringify(host.socketPath)})`
      })
      // A datagram is sent whether or not somebody hears it: what counts is that nobody does.
      yield* daring(
        session,
        `import socket\ntry: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", ${host.port}))\nexcept Exception: pass`
      )
      // A shell that has no such device writes a file of its own: what counts is what the listener hears.
      const commands = `curl -m 1 http://127.0.0.1:${host.port}/; echo x > /dev/tcp/127.0.0.1/${host.port}`
      yield* shell(session, commands)
      yield* alive(session)
    })
  },
  {
    number: 21,
    title: "JavaScript's own connections lead nowhere",
    applies: webAssembly,
    run: Effect.fnUntraced(function* (host) {
      let session = yield* opened
      const address = `127.0.0.1:${host.port}`
      for (const code of [
        `new WebSocket("ws://${address}/"); "started"`,
        `fetch("http://${address}/").then(() => undefined, () => undefined); "started"`,
        `new EventSource("http://${address}/"); "started"`,
        `Deno.connect({ hostname: "127.0.0.1", port: ${host.port} }).then(() => undefined, () => undefined); "started"`,
        `import("http://${address}/x.js").then(() => undefined, () => undefined); "started"`,
        `process.getBuiltinModule("node:net").connect(${host.port}, "127.0.0.1").on("error", () => undefined); "started"`
      ]) {
        const program = `from pyodide.code import run_js\ntry: run_js(${JSON.stringify(code)})\nexcept Exception as error: print("closed", error)`
        if ("lost" in (yield* daring(session, program))) session = yield* opened
      }
      const tunnel = `import asyncio\nfrom pyodide.http import pyfetch\nawait pyfetch("http://${address}/")`
      const outcome = yield* daring(session, tunnel)
      if (!("lost" in outcome)) assert.strictEqual(outcome.finished.outcome, "failed")
    })
  },
  {
    number: 22,
    title: "sockets of the kernel's other families cannot be made",
    run: Effect.fnUntraced(function* () {
      const session = yield* attempts(yield* opened, {
        AF_NETLINK: "import socket\nsocket.socket(16, socket.SOCK_RAW, 0)",
        AF_PACKET: "import socket\nsocket.socket(17, socket.SOCK_RAW, 0)",
        AF_ALG: "import socket\nsocket.socket(38, 5, 0)",
        AF_VSOCK: "import socket\nsocket.socket(40, socket.SOCK_STREAM, 0)",
        "a raw socket": "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"
      })
      yield* alive(session)
    })
  }
]
