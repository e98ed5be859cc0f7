/**
 * Fails when one of the module names it is given can be imported.
 */
const isClosed = (name: string): Promise<boolean> =>
  import(name).then(
    () => false,
    (error: unknown) => error instanceof Error && "code" in error && error.code === "ERR_PACKAGE_PATH_NOT_EXPORTED"
  )

const names = process.argv.slice(2)
const closed = await Promise.all(names.map(isClosed))
const open = names.filter((_, index) => closed[index] !== true)
console.log(`${names.length - open.length} closed modules stayed closed`)
if (open.length > 0) throw new Error(`these should be closed: ${open.join(", ")}`)
