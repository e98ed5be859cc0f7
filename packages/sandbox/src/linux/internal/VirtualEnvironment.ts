/**
 * The files of a virtual environment of Python, at the same paths inside of a root: its packages, the Python that it was
 * made from, and some commands of the host.
 */
import { access } from "node:fs/promises"
import { join } from "node:path"
import { outputOf, type RootCopy } from "./RootCopy.ts"

/** The commands that go with an environment, where the host has them. */
export const defaultCommands: ReadonlyArray<string> =
  "awk base64 bash basename cat chmod cmp comm cp cut date df diff dirname du echo env expr false find grep gunzip gzip head \
id join ln ls md5sum mkdir mktemp mv nl od paste printf pwd readlink realpath rm rmdir sed seq sh sha256sum shuf sleep \
sort split stat sum tac tail tar tee test timeout touch tr true uname uniq wc which xargs yes zcat".split(/\s+/)

const folders = ["/usr/bin", "/bin"]

/** Folders at the top that sessions have in another form. */
const taken = new Set(["castellan", "dev", "listen", "proc", "run", "sandbox", "stage", "sys", "tmp"])

/** Parts of Python's library that no session imports. */
const leftOut = new Set(["test", "tests", "idlelib", "ensurepip", "lib2to3", "turtledemo"])

/** What a Python says of itself, one thing a line. */
const question = [
  "import os, sys, sysconfig",
  "print(sys.version_info >= (3, 11))",
  "print(os.path.realpath(sys.executable))",
  "print(sysconfig.get_path('stdlib'))",
  "print(sysconfig.get_path('platstdlib'))"
].join("\n")

const find = async (command: string): Promise<ReadonlyArray<string>> => {
  const paths = folders.map((folder) => join(folder, command))
  const present = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => true,
        () => false
      )
    )
  )
  return paths.filter((_, index) => present[index] === true).slice(0, 1)
}

/** Copies an environment and its Python; gives the path of the environment's Python. */
export const collectEnvironment = async (
  copy: RootCopy,
  environment: string,
  commands: ReadonlyArray<string>
): Promise<string> => {
  const python = join(environment, "bin/python3")
  const [, top = ""] = environment.split("/")
  if (!environment.startsWith("/") || taken.has(top)) {
    throw new Error(`the path ${environment} cannot be used inside: sessions have a /${top} of their own`)
  }
  const [isFit, executable, ...libraries] = (await outputOf(python, ["-I", "-c", question])).trim().split("\n")
  if (isFit !== "True" || executable === undefined) throw new Error(`${python} is older than Python 3.11`)
  await copy.addTree(environment)
  // The same interpreter by the links through which the environment names it.
  await copy.add([executable, python])
  for (const library of new Set(libraries)) {
    // Packages of the Python underneath are not the environment's.
    // oxlint-disable-next-line no-await-in-loop -- the second one mostly is the first
    await copy.addTree(library, new Set([...leftOut, "site-packages", "dist-packages"]))
  }
  await copy.add((await Promise.all(commands.map(find))).flat())
  return python
}
