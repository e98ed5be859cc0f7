/**
 * The files of installed packages of Debian and its relatives, with all that the packages depend on.
 */
import { readdir, readFile, realpath } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { outputOf, type RootCopy } from "./RootCopy.ts"

/** Packages that every root has: Python, a shell and the commands that go with one. */
export const defaultPackages: ReadonlyArray<string> = [
  "python3",
  "bash",
  "coreutils",
  "diffutils",
  "findutils",
  "grep",
  "gzip",
  "libc-bin",
  "mawk",
  "sed",
  "tar",
  "tzdata"
]

/** Packages that others depend on to be installed or built, and not to run. */
const needless =
  /^(base-files|binfmt-support|binutils.*|cpp(-.*)?|debconf|dpkg|g\+\+.*|gcc(-\d+)?|install-info|lib.*-dev|media-types|perl.*|python3-pythran|sensible-utils|ucf|unicode-data)$/

/** Parts of packages that no program reads. */
const leftOut =
  /^\/(\.|boot|run|var|usr\/(include|share\/(doc|doc-base|man|info|lintian|bug|locale|icons|applications|menu|reportbug|pixmaps))|etc(?!\/(alternatives|fonts|matplotlibrc|mime\.types|python3)))(\/|$)|\.a$/

interface InstalledPackage {
  readonly name: string
  /** Each needs one of these names. */
  readonly needs: ReadonlyArray<ReadonlyArray<string>>
}

const nameIn = (relation: string): string => relation.trim().replace(/[\s:(].*$/s, "")

/** Packages by their names and by those that they provide. */
const installed = async (): Promise<ReadonlyMap<string, InstalledPackage>> => {
  const fields = ["db:Status-Status", "Package", "Provides", "Pre-Depends", "Depends"]
  const text = await outputOf("dpkg-query", ["-W", "-f", `${fields.map((name) => `\${${name}}`).join("\t")}\n`])
  const found = new Map<string, InstalledPackage>()
  const provided = new Map<string, InstalledPackage>()
  for (const line of text.split("\n")) {
    const [status, name, provides = "", before = "", depends = ""] = line.split("\t")
    if (status !== "installed" || name === undefined) continue
    const relations = `${before},${depends}`.split(",").filter((relation) => relation.trim() !== "")
    const one = { name, needs: relations.map((relation) => relation.split("|").map(nameIn)) }
    found.set(name, one)
    for (const other of provides.split(",")) if (other.trim() !== "") provided.set(nameIn(other), one)
  }
  return new Map([...provided, ...found])
}

const closure = (all: ReadonlyMap<string, InstalledPackage>, wanted: ReadonlyArray<string>): ReadonlySet<string> => {
  const chosen = new Set<string>()
  const choose = (name: string): void => {
    const one = all.get(name)
    if (one === undefined || chosen.has(one.name) || needless.test(one.name)) return
    chosen.add(one.name)
    for (const names of one.needs) {
      const present = names.find((other) => all.has(other))
      if (present !== undefined) choose(present)
    }
  }
  for (const name of wanted) choose(name)
  return chosen
}

/** Compiled modules, which packages make when they are installed and do not list. */
const compiled = async (paths: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const folders = new Set(
    paths.filter((path) => path.endsWith(".py")).map((path) => join(dirname(path), "__pycache__"))
  )
  const present = await Promise.all(
    [...folders].map((folder) =>
      readdir(folder).then(
        (names) => names.map((name) => join(folder, name)),
        () => []
      )
    )
  )
  const sources = new Set(paths)
  return present.flat().filter((path) => {
    const source = `${basename(path).split(".")[0]}.py`
    return sources.has(join(dirname(dirname(path)), source))
  })
}

/** Links such as `/usr/bin/awk`, which belong to no package and lead to one of several. */
const alternatives = async (copy: RootCopy): Promise<ReadonlyArray<string>> => {
  const register = "/var/lib/dpkg/alternatives"
  const names = await readdir(register).catch(() => [])
  const links = await Promise.all(
    names.map(async (name) => {
      const target = await realpath(join("/etc/alternatives", name)).catch(() => undefined)
      if (target === undefined || !copy.has(target)) return []
      // The second line of the register is the link.
      const [, link] = (await readFile(join(register, name), "utf8")).split("\n")
      return link === undefined ? [] : [link]
    })
  )
  return links.flat()
}

/** Copies packages and what they depend on; gives the path of their Python. */
export const collectPackages = async (copy: RootCopy, wanted: ReadonlyArray<string>): Promise<string> => {
  const all = await installed()
  const missing = wanted.filter((name) => !all.has(name))
  if (missing.length > 0) throw new Error(`not installed: ${missing.join(", ")} (apt-get install ${missing.join(" ")})`)
  const names = [...closure(all, wanted)]
  const listed = (await outputOf("dpkg-query", ["-L", ...names])).split("\n")
  const paths = [...new Set(listed)].filter((path) => path.startsWith("/") && !leftOut.test(path))
  await copy.add([...paths, ...(await compiled(paths))])
  await copy.add(await alternatives(copy))
  return "/usr/bin/python3"
}
