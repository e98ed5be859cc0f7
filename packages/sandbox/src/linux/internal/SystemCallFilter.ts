/**
 * The filter of system calls of a session: a program of classic BPF, as `prctl(PR_SET_SECCOMP)` takes it.
 *
 * It is made from the table in `SystemCalls.ts`, without libseccomp. Each rule is a block that decides or falls through
 * to the next one, so that the program reads like the table.
 *
 * Source: the kernel's `Documentation/userspace-api/seccomp_filter.rst`; `struct seccomp_data`, `struct sock_filter`.
 */
import {
  absent,
  type Architecture,
  auditArchitecture,
  bufferOptions,
  families,
  inspected,
  namespaceFlags,
  newest,
  type Numbers,
  refused,
  socketLevel,
  terminalRequests,
  x32Bit
} from "./SystemCalls.ts"

/** One instruction of classic BPF: what to do, how far to jump if so and if not, and a constant. */
export interface Instruction {
  readonly code: number
  readonly yes: number
  readonly no: number
  readonly constant: number
}

/** The codes of the instructions that a filter here consists of. */
export const codes = {
  /** Loads the word of the call's data at this offset. */
  load: 0x20,
  /** Jumps by whether the loaded word is the constant, is greater, or shares a bit with it. */
  isEqual: 0x15,
  isGreater: 0x25,
  sharesBit: 0x45,
  /** Ends with this verdict. */
  answer: 0x06
} as const

/** What a filter can answer. */
export const verdicts = {
  allow: 0x7fff0000,
  killProcess: 0x80000000,
  /** The call is answered as if it had been made. */
  pretended: 0x00050000,
  notPermitted: 0x00050000 + 1,
  notImplemented: 0x00050000 + 38,
  familyNotSupported: 0x00050000 + 97
} as const

/** Offsets into the call's data. Of an argument, the low word: the kernel takes no more of those that are looked at. */
const offsets = { number: 0, architecture: 4, firstArgument: 16, secondArgument: 24, thirdArgument: 32 } as const

const load = (offset: number): Instruction => ({ code: codes.load, yes: 0, no: 0, constant: offset })

const answer = (verdict: number): Instruction => ({ code: codes.answer, yes: 0, no: 0, constant: verdict })

/** Does what follows where the loaded word meets the test, and skips it elsewhere. */
const where = (code: number, constant: number, then: ReadonlyArray<Instruction>): ReadonlyArray<Instruction> => [
  { code, yes: 0, no: then.length, constant },
  ...then
]

const whereIs = (constant: number, then: ReadonlyArray<Instruction>): ReadonlyArray<Instruction> =>
  where(codes.isEqual, constant, then)

/** The filter for an architecture, as instructions. */
export const instructions = (architecture: Architecture): ReadonlyArray<Instruction> => {
  const numbersOf = (table: Readonly<Record<string, Numbers>>): ReadonlyArray<number> =>
    Object.values(table).flatMap((numbers) => numbers[architecture] ?? [])
  const onlyKnownFamilies = [
    load(offsets.firstArgument),
    ...Object.values(families).flatMap((family) => whereIs(family, [answer(verdicts.allow)])),
    answer(verdicts.familyNotSupported)
  ]
  return [
    load(offsets.architecture),
    // The same number means another call elsewhere, so that no other architecture may be spoken at all.
    { code: codes.isEqual, yes: 1, no: 0, constant: auditArchitecture[architecture] },
    answer(verdicts.killProcess),
    load(offsets.number),
    ...(architecture === "x64" ? where(codes.sharesBit, x32Bit, [answer(verdicts.killProcess)]) : []),
    ...where(codes.isGreater, newest, [answer(verdicts.notImplemented)]),
    ...numbersOf(absent).flatMap((number) => whereIs(number, [answer(verdicts.notImplemented)])),
    ...numbersOf(refused).flatMap((number) => whereIs(number, [answer(verdicts.notPermitted)])),
    ...whereIs(inspected.clone[architecture], [
      load(offsets.firstArgument),
      ...where(codes.sharesBit, namespaceFlags, [answer(verdicts.notPermitted)]),
      answer(verdicts.allow)
    ]),
    ...whereIs(inspected.socket[architecture], onlyKnownFamilies),
    ...whereIs(inspected.socketpair[architecture], onlyKnownFamilies),
    ...whereIs(inspected.setsockopt[architecture], [
      load(offsets.secondArgument),
      ...whereIs(socketLevel, [
        load(offsets.thirdArgument),
        ...Object.values(bufferOptions).flatMap((option) => whereIs(option, [answer(verdicts.pretended)]))
      ]),
      answer(verdicts.allow)
    ]),
    ...whereIs(inspected.ioctl[architecture], [
      load(offsets.secondArgument),
      ...Object.values(terminalRequests).flatMap((request) => whereIs(request, [answer(verdicts.notPermitted)])),
      answer(verdicts.allow)
    ]),
    answer(verdicts.allow)
  ]
}

/** Instructions as the kernel reads them, eight bytes each. Both architectures are little-endian. */
export const assemble = (program: ReadonlyArray<Instruction>): Uint8Array => {
  const bytes = new Uint8Array(program.length * 8)
  const view = new DataView(bytes.buffer)
  for (const [index, { code, constant, no, yes }] of program.entries()) {
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, yes)
    view.setUint8(index * 8 + 3, no)
    view.setUint32(index * 8 + 4, constant, true)
  }
  return bytes
}
