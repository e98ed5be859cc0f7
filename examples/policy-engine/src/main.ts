/**
 * The host at the command line:
 *
 *     node src/main.ts may cora approve handbook/travel.md by ben
 *     node src/main.ts simulate proposed.json
 *     node src/main.ts check
 */
import { join } from "node:path"
import { load } from "./policies.ts"
import { mayApprove, simulate } from "./questions.ts"

const folder = join(import.meta.dirname, "..", "policies")
const host = load(folder)
const [question, ...rest] = process.argv.slice(2)

switch (question) {
  case "may": {
    const [person = "", , path = "", , author = ""] = rest
    console.log(mayApprove(host, person, { id: "asked", by: author, paths: [path], approvedBy: [] }))
    break
  }
  case "simulate": {
    console.log(simulate(host, folder, rest[0] ?? "proposed.json").join("\n\n"))
    break
  }
  default:
    console.log(host.warnings.length === 0 ? "the policies mean what they say" : host.warnings.join("\n"))
}
