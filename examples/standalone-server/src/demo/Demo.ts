/**
 * The demo, from its command line to its exit code.
 */
import * as CastellanClient from "@castellan/api/client/Client"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { type Arguments, parse, usage } from "./Arguments.ts"
import { ask, fileNames } from "./Conversation.ts"
import { Screen } from "./Screen.ts"
import { startServer } from "./ServerProcess.ts"

/** What the demo asks when it is asked for nothing else: three kinds of question, and one that takes a program. */
const sampleQuestions = [
  "Which 10 origin airports have the highest average delay?",
  "How did the average price of Apple, Google and Microsoft develop by quarter?",
  "What is the average maximum temperature in Seattle by month of the year?",
  "Decompose the monthly CO2 concentration since 1970 into trend and season."
]

/** What it asks of a folder that it knows nothing of. */
const folderQuestions = ["What can you answer?"]

const questionsOf = ({ files, questions }: Arguments): ReadonlyArray<string> =>
  questions.length > 0 ? questions : files === undefined ? sampleQuestions : folderQuestions

const asked = async (args: Arguments, screen: Screen, signal: AbortSignal): Promise<number> => {
  const keep = await mkdtemp(join(tmpdir(), "castellan-demo-"))
  screen.title("Castellan", args.files === undefined ? "over public sample data" : `over ${args.files}`)
  screen.progress("starting the server")
  try {
    await using server = await startServer(keep, args.files, signal)
    const apiKey = (await readFile(join(keep, "admin.key"), "utf8")).trim()
    const client = CastellanClient.make({ baseUrl: server.url, apiKey })
    const [model] = (await client.models.list()).models
    screen.note(`listening on ${server.url}${model === undefined ? "" : `, answering with ${model.name}`}`)
    screen.note(`programs run in sandboxes: ${server.sandboxes}`)

    const questions = questionsOf(args)
    const output = { folder: args.output, nameOf: fileNames() }
    let failures = 0
    for (const [index, question] of questions.entries()) {
      screen.question(`${index + 1}/${questions.length}`, question)
      // oxlint-disable-next-line no-await-in-loop -- a reader follows one answer at a time
      const answered = await ask(client, question, output, screen, signal)
      if (!answered) failures += 1
    }
    screen.space()
    screen.note(`charts and tables are in ${relative(process.cwd(), args.output) || "."}`)
    return failures === 0 ? 0 : 1
  } finally {
    screen.endProgress()
    await rm(keep, { recursive: true, force: true })
  }
}

/** Runs the demo and answers with its exit code: 0 when every question was answered. */
export const run = async (line: ReadonlyArray<string>): Promise<number> => {
  const screen = new Screen(process.stdout)
  // Told to stop, it stops its server and takes its keys away with it.
  const interruption = new AbortController()
  const interrupt = () => interruption.abort(new Error("stopped"))
  process.on("SIGINT", interrupt)
  process.on("SIGTERM", interrupt)
  // Nobody reads it any more.
  process.stdout.on("error", interrupt)
  try {
    const args = parse(line)
    if (args === "help") {
      console.log(usage)
      return 0
    }
    return await asked(args, screen, interruption.signal)
  } catch (error) {
    screen.failure(error instanceof Error ? error.message : String(error))
    return 1
  } finally {
    process.off("SIGINT", interrupt)
    process.off("SIGTERM", interrupt)
  }
}
