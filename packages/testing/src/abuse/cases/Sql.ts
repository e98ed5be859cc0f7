/** Statements and commands that try to get out: 45, 46. */
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname } from "node:path"
import { type AbuseCase, alive, closed, opened, run, shell } from "../Abuse.ts"

/** Each of these must be an error. */
const statements = (secretPath: string, markerPath: string): ReadonlyArray<string> => [
  "set lock_configuration = false",
  "set enable_external_access = true",
  "reset memory_limit",
  "set memory_limit = '64GB'",
  "pragma threads = 64",
  `copy (select 1) to '${markerPath}'`,
  `attach '${markerPath}' as other`,
  `select * from read_text('${secretPath}')`,
  `select * from read_csv('${secretPath}')`,
  `select * from '${secretPath}'`,
  "select * from glob('/*')",
  "select * from read_text('/proc/self/environ')",
  "select * from read_text('http://127.0.0.1:1/')",
  "install httpfs",
  "load httpfs",
  "install 'x' from community",
  "select getenv('HOME')",
  "create secret s (type s3, key_id 'a', secret 'b')",
  `export database '${markerPath}'`
]

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 45,
    title: "SQL over a session's data reads and writes nothing else, and its settings stay locked",
    run: Effect.fnUntraced(function* (host) {
      const session = yield* opened
      const program = `
import castellan
for statement in ${JSON.stringify(statements(host.secretPath, host.markerPath))}:
    try: print("OPEN", statement, castellan.sql(statement))
    except Exception as error: print("closed", type(error).__name__, str(error)[:200].splitlines()[:1])
print(castellan.sql("select 6 * 7 as answer"), "end")
`
      const outcome = yield* run(session, program)
      closed(outcome)
      assert.match(outcome.stdout, /42[^]*end/u, outcome.everything)
      assert.isFalse(existsSync(host.markerPath))
      // What a statement names itself is not the host's to hide.
      const own = dirname(host.markerPath)
      const rest = outcome.everything.replaceAll(own, "")
      for (const path of [tmpdir() + "/castellan", process.cwd()]) assert.notInclude(rest, path)
      yield* alive(session)
    })
  },
  {
    number: 46,
    title: "the shell's programs reach nothing of the host, and its bombs end",
    run: Effect.fnUntraced(function* (host) {
      const session = yield* opened
      const marker = host.markerPath
      for (const command of [
        `awk 'BEGIN { system("touch ${marker}") }'`,
        `echo x | sed 's/x/touch ${marker.replaceAll("/", "\\/")}/e'`,
        `find / -maxdepth 1 -exec touch ${marker} \\;`,
        `echo x > /dev/tcp/127.0.0.1/${host.port}`,
        `cat ${host.secretPath}`,
        `ln -s ${host.secretPath} outputs/link && cat outputs/link`,
        `echo x > ${marker}`,
        `xargs -I{} touch ${marker} <<< x`
      ]) {
        closed(yield* shell(session, command, { timeout: Duration.seconds(10) }))
        assert.isFalse(existsSync(marker), command)
      }
      for (const bomb of [
        "while true; do :; done",
        "f() { f; }; f",
        'x=a; while true; do x="$x$x"; done',
        "echo {1..1000000000}",
        "printf '%1000000000d' 1",
        "yes | head -c 2000000000 | tail -c 1",
        "cat /dev/zero > outputs/zero"
      ]) {
        const outcome = yield* Effect.result(shell(session, bomb, { timeout: Duration.seconds(3) }))
        if (outcome._tag === "Failure") assert.include(["lost", "exhausted"], outcome.failure.reason, bomb)
      }
      yield* alive(yield* opened)
    })
  }
]
