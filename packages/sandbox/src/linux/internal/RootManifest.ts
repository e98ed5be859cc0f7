/**
 * What a built root says of itself, in a file at its top that no session sees.
 */

/** The name of the file. */
export const manifestName = "castellan-root.json"

/** A built root. */
export interface RootManifest {
  /** The path of its Python, as seen inside. */
  readonly python: string
  /** What it was built from, for whoever finds it. */
  readonly source: string
}

/** Whether a value is one. */
export const isManifest = (value: unknown): value is RootManifest =>
  typeof value === "object" &&
  value !== null &&
  "python" in value &&
  typeof value.python === "string" &&
  value.python.startsWith("/") &&
  "source" in value &&
  typeof value.source === "string"
