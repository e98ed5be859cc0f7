/** A process that writes numbers into an embedded database and says each when it is committed, until it is killed. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import { connection } from "../../src/embedded/internal/EngineConnection.ts"
import { EngineHandle } from "../../src/embedded/internal/EngineHandle.ts"

const write = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql`CREATE TABLE public.numbers (number integer PRIMARY KEY)`
  for (let number = 1; ; number++) {
    yield* sql`INSERT INTO public.numbers VALUES (${number})`
    yield* Effect.promise(() => new Promise((said) => process.stdout.write(`${number}\n`, said)))
  }
})

const [, , folder = ""] = process.argv
await Effect.runPromise(Effect.provide(write, connection(new EngineHandle({ folder }))))
