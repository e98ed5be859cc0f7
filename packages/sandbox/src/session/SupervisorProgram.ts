/**
 * Where the supervisor is, for a tier of a host's own: it is what a tier starts as the first process of a session.
 */
import { fileURLToPath } from "node:url"

/** The folder of the Python sources. A sandbox needs all of it, and nothing else: the standard library does the rest. */
export const folder: string = fileURLToPath(new URL("../../python", import.meta.url))

/**
 * The program: `python3 -I <program> <root>` serves its standard streams. The first line of its input is the nonce of
 * the launch; frames follow. `root` is the folder of the session's files.
 */
export const program: string = fileURLToPath(new URL("../../python/castellan_supervisor.py", import.meta.url))
