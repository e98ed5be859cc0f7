/**
 * The processes that try mutants, one a core. One that does not answer in time is killed and replaced.
 */
import { type ChildProcess, fork } from "node:child_process"
import { join } from "node:path"
import { root } from "../packages.ts"
import type { Mutant } from "./instrument.ts"
import type { Outcome, Task } from "./worker.ts"

/** What came of an attempt. */
export interface Attempt {
  readonly failure?: string
  readonly timedOut: boolean
}

/** After this many mutants a process is replaced: vitest keeps a little of every run. */
const lifetime = 400

interface Job {
  readonly mutant: Mutant
  readonly tests: ReadonlyArray<string>
  readonly resolve: (attempt: Attempt) => void
}

/** Tries mutants on several processes. */
export class Crew {
  readonly #manifest: string
  /** What each test file takes without a mutant, in milliseconds. */
  readonly #durations: ReadonlyMap<string, number>
  readonly #caught = new Map<string, number>()
  readonly #queue: Array<Job> = []
  readonly #idle: Array<Member> = []
  /** Test files that fail beside others in one thread, though not alone. */
  #unfit: ReadonlySet<string> = new Set()
  #done = 0
  #all = 0

  private constructor(manifest: string, durations: ReadonlyMap<string, number>) {
    this.#manifest = manifest
    this.#durations = durations
  }

  /** Starts the processes, and runs every test file once in one of them to see that it works there. */
  static async open(manifest: string, size: number, durations: ReadonlyMap<string, number>): Promise<Crew> {
    const crew = new Crew(manifest, durations)
    const members = await Promise.all(Array.from({ length: size }, () => crew.#hire()))
    const first = members[0]
    if (first === undefined) throw new RangeError("a crew needs a worker")
    const outcome = await first.attempt({ id: 0, tests: [...durations.keys()], limit: 0 }, 600_000)
    if (outcome === "timed out") throw new Error("the tests do not end without a mutant")
    crew.#unfit = new Set(outcome.failed)
    if (outcome.failed.length > 0) console.log(`left out beside others: ${outcome.failed.join(", ")}`)
    crew.#idle.push(...members)
    return crew
  }

  /** Tries a mutant as soon as a process is free. */
  attempt(mutant: Mutant, tests: ReadonlyArray<string>): Promise<Attempt> {
    this.#all++
    return new Promise((resolve) => {
      this.#queue.push({ mutant, tests, resolve })
      this.#next()
    })
  }

  /** Ends the processes. */
  close(): void {
    for (const member of this.#idle) member.end()
  }

  async #hire(): Promise<Member> {
    const process = fork(join(import.meta.dirname, "worker.ts"), [this.#manifest], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit", "ipc"]
    })
    await new Promise<void>((resolve, reject) => {
      process.once("message", () => resolve())
      process.once("exit", (code) => reject(new Error(`a worker ended with ${code} before it began`)))
    })
    return new Member(process)
  }

  #next(): void {
    const member = this.#idle[0]
    const job = this.#queue[0]
    if (member === undefined || job === undefined) return
    this.#idle.shift()
    this.#queue.shift()
    void this.#try(member, job)
  }

  /** The files that have caught most, for their time, come first; one of the same name before all. */
  #order(job: Job): ReadonlyArray<string> {
    const name = /([^/]+)\.ts$/.exec(job.mutant.file)?.[1] ?? ""
    const rank = (path: string): number => {
      const caught = this.#caught.get(`${job.mutant.file} ${path}`) ?? 0
      return ((path.includes(`/${name}.test`) ? 10 : 0.1) + caught) / ((this.#durations.get(path) ?? 0) + 200)
    }
    return job.tests.filter((path) => !this.#unfit.has(path)).toSorted((a, b) => rank(b) - rank(a))
  }

  async #try(member: Member, job: Job): Promise<void> {
    const tests = this.#order(job)
    const limit = 10_000 + 5 * tests.reduce((sum, path) => sum + (this.#durations.get(path) ?? 0), 0)
    const outcome = await member.attempt({ id: job.mutant.id, tests, limit }, 2 * limit + 20_000)
    if (outcome === "timed out") {
      member.end()
      job.resolve({ timedOut: true })
    } else {
      for (const path of outcome.failed) {
        const key = `${job.mutant.file} ${path}`
        this.#caught.set(key, (this.#caught.get(key) ?? 0) + 1)
      }
      const endless = outcome.failure?.includes("past the mutant's time limit") ?? false
      job.resolve({ ...(outcome.failure === undefined ? {} : { failure: outcome.failure }), timedOut: endless })
    }
    this.#done++
    if (this.#done % 50 === 0 || this.#done === this.#all) console.log(`${this.#done} of ${this.#all}`)
    if (outcome === "timed out" || member.attempts >= lifetime) {
      member.end()
      this.#idle.push(await this.#hire())
    } else {
      this.#idle.push(member)
    }
    this.#next()
  }
}

/** One process. */
class Member {
  attempts = 0
  readonly #process: ChildProcess

  constructor(process: ChildProcess) {
    this.#process = process
  }

  /** Hands over a task and waits for its outcome, but not for ever; a process that dies has timed out as well. */
  attempt(task: Task, patience: number): Promise<Outcome | "timed out"> {
    this.attempts++
    return new Promise((resolve) => {
      const finish = (outcome: Outcome | "timed out"): void => {
        clearTimeout(timer)
        this.#process.removeAllListeners("message")
        this.#process.removeAllListeners("exit")
        resolve(outcome)
      }
      const timer = setTimeout(() => finish("timed out"), patience)
      this.#process.once("message", (outcome: Outcome) => finish(outcome))
      this.#process.once("exit", () => finish("timed out"))
      this.#process.send(task)
    })
  }

  /** Ends the process, busy or not. */
  end(): void {
    this.#process.kill("SIGKILL")
  }
}
