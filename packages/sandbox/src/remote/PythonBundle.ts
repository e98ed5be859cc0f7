/**
 * The supervisor and what belongs to it as one file that a remote sandbox is sent, and the command that unpacks it
 * there.
 */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { folder } from "../session/SupervisorProgram.ts"

const parts = new Set(["castellan_supervisor.py", "castellan", "castellan_session", "castellan_remote"])

/** Sources of Python to be laid into a sandbox. */
export interface PythonBundle {
  /** JSON: the text of each file by its path. */
  readonly content: string
  /** Names the content: a sandbox that has it need not be sent it. */
  readonly digest: string
}

const read = async (): Promise<PythonBundle> => {
  const paths = await readdir(folder, { recursive: true })
  const sources = paths
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".py") && parts.has(path.split("/")[0] ?? ""))
    .toSorted()
  const texts = await Promise.all(sources.map((path) => readFile(`${folder}/${path}`, "utf8")))
  const content = JSON.stringify(Object.fromEntries(sources.map((path, index) => [path, texts[index]])))
  return { content, digest: createHash("sha256").update(content).digest("hex").slice(0, 16) }
}

/** The bundle of this package. */
export const bundle: Effect.Effect<PythonBundle> = Effect.promise(read)

/** Unpacks the file given first into the folder given second. It holds no single quote: a shell passes it on in them. */
export const unpack =
  "import json,os,sys\n" +
  'for path,text in json.load(open(sys.argv[1],encoding="utf-8")).items():\n' +
  " at=os.path.join(sys.argv[2],path)\n" +
  " os.makedirs(os.path.dirname(at),exist_ok=True)\n" +
  ' open(at,"w",encoding="utf-8").write(text)\n'
