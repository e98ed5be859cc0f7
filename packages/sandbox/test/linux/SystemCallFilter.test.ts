/** The filter of system calls, by a machine for classic BPF that runs it as the kernel would. */
import { assert, describe, it } from "@effect/vitest"
import { assemble, instructions, verdicts } from "../../src/linux/internal/SystemCallFilter.ts"
import {
  absent,
  type Architecture,
  auditArchitecture,
  inspected,
  newest,
  type Numbers,
  refused
} from "../../src/linux/internal/SystemCalls.ts"

interface Call {
  readonly number: number
  readonly architecture: number
  /** Words of 64 bits. */
  readonly given?: ReadonlyArray<bigint>
}

/** `struct seccomp_data`, as the kernel shows it to a filter. */
const dataOf = ({ architecture, given = [], number }: Call): DataView => {
  const view = new DataView(new ArrayBuffer(64))
  view.setUint32(0, number, true)
  view.setUint32(4, architecture, true)
  for (const [index, word] of given.entries()) view.setBigUint64(16 + index * 8, word, true)
  return view
}

/** Runs an assembled program; the operations are those of the kernel's `bpf_check_classic` that a filter may use. */
const verdictOf = (program: Uint8Array, call: Call): number => {
  const code = new DataView(program.buffer)
  const data = dataOf(call)
  let accumulator = 0
  for (let at = 0; at < program.length; at += 8) {
    const operation = code.getUint16(at, true)
    const constant = code.getUint32(at + 4, true)
    const jump = (isMet: boolean): void => {
      at += 8 * code.getUint8(at + (isMet ? 2 : 3))
    }
    if (operation === 0x20) accumulator = data.getUint32(constant, true)
    else if (operation === 0x15) jump(accumulator === constant)
    else if (operation === 0x25) jump(accumulator > constant)
    else if (operation === 0x45) jump((accumulator & constant) !== 0)
    else if (operation === 0x06) return constant
    else assert.fail(`no such operation: ${operation}`)
  }
  return assert.fail("the program ends without a verdict")
}

const architectures: ReadonlyArray<Architecture> = ["x64", "arm64"]

for (const architecture of architectures) {
  describe(`the filter of ${architecture}`, () => {
    const program = assemble(instructions(architecture))
    const own = auditArchitecture[architecture]
    const ask = (numbers: Numbers, ...given: ReadonlyArray<bigint>): number | undefined => {
      const number = numbers[architecture]
      return number === undefined ? undefined : verdictOf(program, { number, architecture: own, given })
    }

    it("fits into a filter, and no jump leaves it", () => {
      assert.isBelow(program.length / 8, 4096)
      for (const [index, { no, yes }] of instructions(architecture).entries()) {
        assert.isBelow(index + 1 + Math.max(no, yes), program.length / 8 + 1)
      }
    })

    it("refuses what the table refuses, and nothing that reads, writes or starts a program", () => {
      for (const [name, numbers] of Object.entries(refused)) {
        assert.include([undefined, verdicts.notPermitted], ask(numbers), name)
      }
      const plain = {
        read: { x64: 0, arm64: 63 },
        openat: { x64: 257, arm64: 56 },
        mmap: { x64: 9, arm64: 222 },
        execve: { x64: 59, arm64: 221 },
        futex: { x64: 202, arm64: 98 },
        getrandom: { x64: 318, arm64: 278 },
        seccomp: { x64: 317, arm64: 277 },
        newest: { x64: newest, arm64: newest }
      }
      for (const [name, numbers] of Object.entries(plain)) assert.strictEqual(ask(numbers), verdicts.allow, name)
    })

    it("has no call with flags behind a pointer, and none that was unknown when it was written", () => {
      for (const [name, numbers] of Object.entries(absent)) {
        assert.include([undefined, verdicts.notImplemented], ask(numbers), name)
      }
      assert.strictEqual(ask({ x64: newest + 1, arm64: newest + 1 }), verdicts.notImplemented)
    })

    it("ends a process that speaks another architecture", () => {
      const other = auditArchitecture[architecture === "x64" ? "arm64" : "x64"]
      assert.strictEqual(verdictOf(program, { number: 0, architecture: other }), verdicts.killProcess)
      assert.strictEqual(verdictOf(program, { number: 0, architecture: 0x40000003 }), verdicts.killProcess)
      // x32 calls are x86-64's with a bit; elsewhere there is no call of that number.
      assert.strictEqual(
        verdictOf(program, { number: 0x40000000, architecture: own }),
        architecture === "x64" ? verdicts.killProcess : verdicts.notImplemented
      )
    })

    it("lets threads and forks be made, and no namespace", () => {
      const threadFlags = 0x003d0f00n
      assert.strictEqual(ask(inspected.clone, threadFlags), verdicts.allow)
      assert.strictEqual(ask(inspected.clone, 0x01200011n), verdicts.allow)
      for (const flag of [0x20000n, 0x2000000n, 0x4000000n, 0x8000000n, 0x10000000n, 0x20000000n, 0x40000000n]) {
        assert.strictEqual(ask(inspected.clone, threadFlags | flag), verdicts.notPermitted, flag.toString(16))
      }
    })

    it("has sockets of three families, whatever stands in the part of a word that the kernel drops", () => {
      const high = 0xdeadbeefn << 32n
      for (const call of [inspected.socket, inspected.socketpair]) {
        for (const family of [1n, 2n, 10n]) assert.strictEqual(ask(call, family), verdicts.allow)
        for (const family of [0n, 16n, 17n, 31n, 38n, 40n]) {
          assert.strictEqual(ask(call, family), verdicts.familyNotSupported)
          assert.strictEqual(ask(call, high | family), verdicts.familyNotSupported)
        }
        assert.strictEqual(ask(call, high | 1n), verdicts.allow)
      }
    })

    it("makes no socket's buffers larger, and says nothing of it", () => {
      const high = 0xdeadbeefn << 32n
      for (const option of [7n, 8n, high | 7n]) {
        for (const level of [1n, high | 1n]) {
          assert.strictEqual(ask(inspected.setsockopt, 3n, level, option), verdicts.pretended)
        }
        // The same number is another option for TCP.
        assert.strictEqual(ask(inspected.setsockopt, 3n, 6n, option), verdicts.allow)
      }
      for (const option of [2n, 9n, 20n]) assert.strictEqual(ask(inspected.setsockopt, 3n, 1n, option), verdicts.allow)
    })

    it("puts nothing into a terminal", () => {
      assert.strictEqual(ask(inspected.ioctl, 0n, 0x5413n), verdicts.allow)
      for (const request of [0x5412n, 0x541cn]) {
        assert.strictEqual(ask(inspected.ioctl, 0n, request), verdicts.notPermitted)
        assert.strictEqual(ask(inspected.ioctl, 0n, (1n << 32n) | request), verdicts.notPermitted)
      }
    })
  })
}
