/**
 * The processes that try mutants, one a core. One that does not answer in time is killed and replaced.
 */
import { type ChildProcess, fork } from "node:child_process"
import { join } from "node:path"
import { root } from "../packages.ts"
import type { Mutant } from "./instrument.ts"
import type { Touching } from "./reach.ts"
import type { Outcome, Task, Word } from "./worker.ts"

/** What came of an attempt. */
export interface Attempt {
  readonly failure?: string
  readonly timedOut: boolean
}

/** So many mutants are tried by one thread. */
const batch = 32

/** After so many batches a process is replaced: vitest keeps a little of every run. */
const lifetime = 25

interface Job {
  readonly mutant: Mutant
  readonly tests: ReadonlyArray<Touching>
  readonly resolve: (attempt: Attempt) => void
}

/** Tries mutants on several processes. */
export class Crew {
  readonly #manifest: string
  /** How often a test file has caught a mutant of a source file. */
  readonly #caught = new Map<string, number>()
  readonly #queue: Array<Job> = []
  /** Test files that fail beside others in one thread, though not alone. */
  #unfit: ReadonlySet<string> = new Set()
  #done = 0

  private constructor(manifest: string) {
    this.#manifest = manifest
  }

  /** Begins with one process that runs every test file, to see which ones work beside others. */
  static async open(manifest: string, paths: ReadonlyArray<string>): Promise<Crew> {
    const crew = new Crew(manifest)
    if (paths.length === 0) return crew
    const first = await Member.hire(manifest)
    const tests = paths.map((path) => ({ path }))
    let failed: ReadonlyArray<string> = []
    const undone = await first.work([{ id: 0, tests, limit: 0 }], (outcome) => {
      failed = outcome.failed
    })
    first.end()
    if (undone.length > 0) throw new Error("the tests do not end without a mutant")
    crew.#unfit = new Set(failed)
    if (failed.length > 0) console.log(`left out beside others: ${failed.join(", ")}`)
    return crew
  }

  /** Adds a mutant to what is to be tried. */
  attempt(mutant: Mutant, tests: ReadonlyArray<Touching>): Promise<Attempt> {
    return new Promise((resolve) => {
      this.#queue.push({ mutant, tests, resolve })
    })
  }

  /** Tries all that was added, on so many processes at once. */
  async run(size: number): Promise<void> {
    const all = this.#queue.length
    await Promise.all(Array.from({ length: size }, () => this.#empty(all)))
  }

  /** The files that have caught most, for their time, come first; one of the same name before all. */
  #order(job: Job): ReadonlyArray<Touching> {
    const name = /([^/]+)\.ts$/.exec(job.mutant.file)?.[1] ?? ""
    const rank = ({ milliseconds, path }: Touching): number => {
      const caught = this.#caught.get(`${job.mutant.file} ${path}`) ?? 0
      return ((path.includes(`/${name}.test`) ? 10 : 0.1) + caught) / (milliseconds + 100)
    }
    return job.tests.filter(({ path }) => !this.#unfit.has(path)).toSorted((a, b) => rank(b) - rank(a))
  }

  #taskOf(job: Job): Task {
    const tests = this.#order(job)
    const milliseconds = tests.reduce((sum, one) => sum + one.milliseconds, 0)
    return {
      id: job.mutant.id,
      tests: tests.map(({ names, path }) => ({ path, ...(names === undefined ? {} : { names }) })),
      limit: 10_000 + 5 * milliseconds
    }
  }

  #finish(job: Job, attempt: Attempt, all: number): void {
    job.resolve(attempt)
    this.#done++
    if (this.#done % 100 === 0 || this.#done === all) console.log(`${this.#done} of ${all}`)
  }

  async #empty(all: number): Promise<void> {
    let member = await Member.hire(this.#manifest)
    while (this.#queue.length > 0) {
      const jobs = new Map(this.#queue.splice(0, batch).map((job) => [job.mutant.id, job]))
      const tasks = [...jobs.values()].map((job) => this.#taskOf(job))
      const answer = (outcome: Outcome): void => {
        const job = jobs.get(outcome.id)
        if (job === undefined) return
        jobs.delete(outcome.id)
        for (const path of outcome.failed) {
          const key = `${job.mutant.file} ${path}`
          this.#caught.set(key, (this.#caught.get(key) ?? 0) + 1)
        }
        const { failure } = outcome
        const timedOut = failure?.includes("past the mutant's time limit") ?? false
        this.#finish(job, { ...(failure === undefined ? {} : { failure }), timedOut }, all)
      }
      // A task without a test is never answered: all of its tests are unfit.
      for (const { id, tests } of tasks) if (tests.length === 0) answer({ id, failed: [] })
      // oxlint-disable-next-line no-await-in-loop -- a process takes one batch after another
      const undone = await member.work(
        tasks.filter(({ tests }) => tests.length > 0),
        answer
      )
      const [stuck, ...rest] = undone.flatMap(({ id }) => jobs.get(id) ?? [])
      if (stuck !== undefined) this.#finish(stuck, { timedOut: true }, all)
      this.#queue.unshift(...rest)
      if (stuck !== undefined || member.batches >= lifetime) {
        member.end()
        // oxlint-disable-next-line no-await-in-loop -- see above
        member = await Member.hire(this.#manifest)
      }
    }
    member.end()
  }
}

/** One process. */
class Member {
  batches = 0
  readonly #process: ChildProcess

  private constructor(process: ChildProcess) {
    this.#process = process
  }

  /** Starts a process. */
  static hire(manifest: string): Promise<Member> {
    const process = fork(join(import.meta.dirname, "worker.ts"), [manifest], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit", "ipc"]
    })
    return new Promise((resolve, reject) => {
      process.once("exit", (code) => reject(new Error(`a worker ended with ${code} before it began`)))
      process.once("message", () => {
        process.removeAllListeners("exit")
        resolve(new Member(process))
      })
    })
  }

  /**
   * Hands over a batch, and tells of every outcome. What is left when the process dies, or makes no further step for
   * far longer than the longest limit, is returned, the one that was on first.
   */
  work(tasks: ReadonlyArray<Task>, onOutcome: (outcome: Outcome) => void): Promise<ReadonlyArray<Task>> {
    this.batches++
    if (tasks.length === 0) return Promise.resolve([])
    const undone = new Map(tasks.map((task) => [task.id, task]))
    const patience = 120_000 + 2 * Math.max(...tasks.map(({ limit }) => limit))
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer)
        this.#process.removeAllListeners("message")
        this.#process.removeAllListeners("exit")
        resolve([...undone.values()])
      }
      const timer = setTimeout(finish, patience)
      this.#process.on("message", (word: Word) => {
        timer.refresh()
        if (word === "free") return finish()
        if (word === "step") return
        undone.delete(word.id)
        onOutcome(word)
      })
      this.#process.once("exit", finish)
      this.#process.send(tasks)
    })
  }

  /** Ends the process, busy or not. */
  end(): void {
    this.#process.kill("SIGKILL")
  }
}
