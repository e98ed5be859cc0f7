/**
 * The main job, from a question to an answer: starts the server on a free port, asks over HTTP as any client would,
 * shows every event as it comes, and saves the charts and tables.
 */
import { run } from "./demo/Demo.ts"

process.exitCode = await run(process.argv.slice(2))
