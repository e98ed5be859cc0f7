/**
 * The right of one process to a folder. The lock is the operating system's, through SQLite, which is part of Node: it
 * ends with the process, however that ends, and a copy of the folder does not hold it.
 */
import { DatabaseSync } from "node:sqlite"

/** SQLite's code for a file that another process has locked. */
const busy = 5

/** Takes the lock of a file, for as long as the thread lives. Answers false where somebody else has it. */
export const take = (file: string): boolean => {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    database.exec("BEGIN EXCLUSIVE")
  } catch (error) {
    database.close()
    if (error instanceof Error && "errcode" in error && error.errcode === busy) return false
    throw error
  }
  held.push(database)
  return true
}

/** Keeps the locks from being collected as garbage. */
const held: Array<DatabaseSync> = []
