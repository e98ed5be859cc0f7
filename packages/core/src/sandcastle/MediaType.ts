/**
 * Media types of files in sandcastles, by the ends of their names.
 */

const byExtension: ReadonlyMap<string, string> = new Map([
  ["csv", "text/csv"],
  ["gif", "image/gif"],
  ["html", "text/html"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["json", "application/json"],
  ["md", "text/markdown"],
  ["parquet", "application/vnd.apache.parquet"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["py", "text/x-python"],
  ["svg", "image/svg+xml"],
  ["tsv", "text/tab-separated-values"],
  ["txt", "text/plain"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["zip", "application/zip"]
])

/** What is known of a file whose kind is not. */
export const unknown = "application/octet-stream"

/** The media type of a file, by its name. */
export const ofName = (name: string): string => {
  const dot = name.lastIndexOf(".")
  return (dot === -1 ? undefined : byExtension.get(name.slice(dot + 1).toLowerCase())) ?? unknown
}

/** The end of the name of a file of a media type: `json` of what is JSON, such as a chart in Vega-Lite. */
export const extensionOf = (mediaType: string): string => {
  const [essence = ""] = mediaType.toLowerCase().split(";")
  for (const [extension, type] of byExtension) if (type === essence.trim()) return extension
  return /\+(json|xml)$/u.exec(essence.trim())?.[1] ?? "bin"
}
