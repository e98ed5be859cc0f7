/**
 * What becomes of the server when nobody reads what it says: it goes on. A pipe whose reader has ended, or a disk that is
 * full, costs the lines of the log and nothing else; that they are lost is said once, where it can be.
 */

/** Has the process outlive its standard output and its standard error. To be called before anything is written. */
export const outliveOutput = (): void => {
  let isTold = false
  process.stdout.on("error", (error) => {
    if (isTold) return
    isTold = true
    process.stderr.write(`standard output cannot be written (${error.message}): the log is lost from here on\n`)
  })
  // Nobody is left to be told.
  process.stderr.on("error", () => undefined)
}

/** Has the process told to stop when the one that started it, over a channel of messages, has ended. */
export const endWithParent = (): void => {
  if (!process.connected) return
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"))
  process.channel?.unref()
}
