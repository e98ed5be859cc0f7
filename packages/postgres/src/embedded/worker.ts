/**
 * The program of the embedded database's thread.
 */
import { parentPort, workerData } from "node:worker_threads"
import { serve } from "./internal/EngineService.ts"

if (parentPort === null) throw new Error("this program is a thread of another one")
await serve(parentPort, workerData)
