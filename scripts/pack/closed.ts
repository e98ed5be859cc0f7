/**
 * Fails when one of the module names it is given can be imported.
 */
const open: Array<string> = []
const names = process.argv.slice(2)
for (const name of names) {
  const code: unknown = await import(name).then(
    () => undefined,
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error)
  )
  if (code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") open.push(name)
}
console.log(`${names.length - open.length} closed modules stayed closed`)
if (open.length > 0) throw new Error(`these should be closed: ${open.join(", ")}`)
