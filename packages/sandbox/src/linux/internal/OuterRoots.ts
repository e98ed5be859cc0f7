/**
 * The two kinds of root that a sandbox can have: the host's own programs, or a folder that holds a Python and nothing
 * else (`PythonRoot.ts`).
 */
import { readdir, readFile, readlink } from "node:fs/promises"
import { join } from "node:path"
import type { OuterRoot } from "./OuterSandbox.ts"
import { isManifest, manifestName } from "./RootManifest.ts"

/** A root, and the Python in it. */
export interface ChosenRoot {
  readonly root: OuterRoot
  readonly python: string
  /** Names at the top of it, besides those that every session has. */
  readonly names: ReadonlyArray<string>
}

/** Parts of `/etc` that programs of the distribution cannot do without, none of which tells about the host. */
const settings = ["alternatives", "ld.so.cache", "fonts", "matplotlibrc", "mime.types", "localtime"]

/** Parts of `/usr` that are the host's own, and not the distribution's. */
const masks = ["/usr/local", "/usr/src"]

/** Links and folders of a Unix root, by whether `/usr` was merged. */
const topLevel = ["bin", "lib", "lib32", "lib64", "libx32", "sbin"]

/** The host's `/usr` and the little of `/etc` that it needs; `folder` has the files that name the sandbox's user. */
export const hostRoot = async (folder: string, python: string): Promise<ChosenRoot> => {
  const entries = await readdir("/", { withFileTypes: true })
  const shown = entries.filter(({ name }) => topLevel.includes(name))
  const links = shown.filter((entry) => entry.isSymbolicLink()).map(({ name }) => `/${name}`)
  const folders = ["/usr", ...shown.filter((entry) => entry.isDirectory()).map(({ name }) => `/${name}`)]
  const present = new Set((await readdir("/usr")).map((name) => `/usr/${name}`))
  return {
    root: {
      folders: [
        ...folders.map((path) => ({ from: path, to: path })),
        ...accounts.map((name) => ({ from: join(folder, "etc", name), to: `/etc/${name}` }))
      ],
      optional: settings.map((name) => ({ from: `/etc/${name}`, to: `/etc/${name}` })),
      links: await Promise.all(links.map(async (at) => ({ target: await readlink(at), at }))),
      masked: masks.filter((path) => present.has(path) && !python.startsWith(`${path}/`))
    },
    python,
    names: ["etc", "usr", ...topLevel]
  }
}

/** A root that was built. */
export const builtRoot = async (path: string): Promise<ChosenRoot> => {
  const manifest: unknown = JSON.parse(await readFile(join(path, manifestName), "utf8"))
  if (!isManifest(manifest)) throw new TypeError(`${join(path, manifestName)} does not describe a root`)
  const entries = (await readdir(path, { withFileTypes: true })).filter(({ name }) => name !== manifestName)
  const folders = entries.filter((entry) => entry.isDirectory())
  const links = entries.filter((entry) => entry.isSymbolicLink())
  return {
    root: {
      folders: folders.map(({ name }) => ({ from: join(path, name), to: `/${name}` })),
      optional: [],
      links: await Promise.all(
        links.map(async ({ name }) => ({ target: await readlink(join(path, name)), at: `/${name}` }))
      ),
      masked: []
    },
    python: manifest.python,
    names: entries.map(({ name }) => name)
  }
}

/** Files of `/etc` that name the sandbox's user, by their names. */
export const accountFiles: Readonly<Record<string, string>> = {
  passwd:
    "sandbox:x:1000:1000:sandbox:/tmp/home:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
  group: "sandbox:x:1000:\nnogroup:x:65534:\n",
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n"
}

const accounts = Object.keys(accountFiles)
