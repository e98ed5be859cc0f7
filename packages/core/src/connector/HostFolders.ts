/**
 * The folders of the server's machine that connectors may read. Whoever administers an organization does not thereby
 * read the host's disk: a folder is allowed by the host, or not at all.
 */
import * as Context from "effect/Context"

/** The folders that connectors made through the service may read, with all that is below them. None by default. */
export const HostFolders = Context.Reference<ReadonlyArray<string>>("@castellan/core/connector/HostFolders", {
  defaultValue: () => []
})

const segments = (path: string): ReadonlyArray<string> => path.split(/[/\\]/u).filter((segment) => segment !== "")

/** Whether a folder is one of the allowed ones, or below one; a path that turns back on its way is neither. */
export const isAllowed = (folder: string, allowed: ReadonlyArray<string>): boolean => {
  const asked = segments(folder)
  if (asked.some((segment) => segment === "." || segment === "..") || folder.includes("\0")) return false
  return allowed.some((root) => {
    const base = segments(root)
    // Both from the root, or both from the same drive or working folder.
    return (
      /^[/\\]/u.test(root) === /^[/\\]/u.test(folder) &&
      base.length <= asked.length &&
      base.every((segment, index) => segment === asked[index])
    )
  })
}
