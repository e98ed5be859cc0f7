/**
 * Every benchmark, in the order in which they run and stand on the page.
 */
import type { Benchmark } from "./Benchmark.ts"
import { coldStart } from "./cold-start/ColdStart.ts"
import { contract } from "./contract/Contract.ts"
import { databaseRead } from "./database-read/DatabaseRead.ts"
import { decisions } from "./decisions/Decisions.ts"
import { fanOut } from "./fan-out/FanOut.ts"
import { firstFrame } from "./first-frame/FirstFrame.ts"
import { jsonRead } from "./json-read/JsonRead.ts"
import { keyCheck } from "./key-check/KeyCheck.ts"
import { library } from "./library/Library.ts"
import { migrations } from "./migrations/Migrations.ts"
import { pages } from "./pages/Pages.ts"
import { runLogWrites } from "./run-log/RunLogWrites.ts"
import { sandboxes } from "./sandboxes/Sandboxes.ts"

/** Every benchmark. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  jsonRead,
  databaseRead,
  keyCheck,
  pages,
  runLogWrites,
  migrations,
  fanOut,
  firstFrame,
  coldStart,
  library,
  decisions,
  contract,
  sandboxes
]
