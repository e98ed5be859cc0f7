/** A host as far as it owns a private folder: makes one below its argument, says which, and waits to be killed. */
import * as OwnedFolder from "../../src/linux/internal/OwnedFolder.ts"

const [, , parent = "/nowhere"] = process.argv
const { path } = await OwnedFolder.make(parent)
console.log(path)
setInterval(() => undefined, 1_000_000)
