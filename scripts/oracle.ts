/**
 * As many random requests as wanted, judged by our rules and by the same rules in Cedar:
 * `node scripts/oracle.ts --requests 1000000 --seed 7 [--action "mint a key"] [--workers 2]`. A disagreement is printed
 * with the seed that draws it again, and ends the run with exit code 1.
 */
import { fork } from "node:child_process"
import { parseArgs } from "node:util"
import { examine, isBalanced, questions, type Tally, told } from "../packages/core/test/oracle/Oracle.ts"

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    /** One question alone. */
    action: { type: "string" },
    workers: { type: "string", default: "2" }
  }
})

const asked = questions.filter(({ action }) => values.action === undefined || action === values.action)
if (asked.length === 0)
  throw new Error(`no question is called ${values.action}: ${questions.map(({ action }) => action).join(", ")}`)

const report = (tally: Tally): boolean => {
  const share = ((100 * tally.allowed) / tally.requests).toFixed(1)
  const fine = tally.disagreementCount === 0 && isBalanced(tally)
  console.log(`${fine ? "ok    " : "FAILED"} ${tally.action}: ${tally.requests} requests, ${share} % allowed`)
  if (tally.disagreementCount > 0) console.log(`${tally.disagreementCount} disagreements, such as`)
  for (const one of tally.disagreements) console.log(told(one))
  return fine
}

if (process.send !== undefined) {
  // A worker: the name of a question in, its tally out.
  process.on("message", (job: { readonly action: string; readonly requests: number; readonly seed: number }) => {
    const question = questions.find(({ action }) => action === job.action)
    if (question !== undefined) process.send?.(examine(question, job.requests, job.seed))
  })
} else {
  const started = performance.now()
  const requests = Math.ceil(Number(values.requests) / asked.length)
  const waiting = [...asked]
  const results: Array<boolean> = []
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = fork(import.meta.filename)
      const next = (): void => {
        const question = waiting.shift()
        if (question === undefined) worker.disconnect()
        else worker.send({ action: question.action, requests, seed: Number(values.seed) })
      }
      worker.on("message", (tally: Tally) => {
        results.push(report(tally))
        next()
      })
      worker.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))))
      next()
    })
  await Promise.all(Array.from({ length: Number(values.workers) }, work))
  const seconds = (performance.now() - started) / 1000
  console.log(`${requests * results.length} requests in ${seconds.toFixed(0)} s`)
  if (!results.every(Boolean)) process.exitCode = 1
}
