/**
 * The files of a model as Malloy sees them: URLs below one root that exists only in memory. Nothing is ever read from
 * a disk or a network: an import that leaves the ontology folder has nowhere to go.
 */
import type { URLReader } from "@malloydata/malloy"
import type { OntologyFile } from "@castellan/core/ontology/Ontology"

const root = "file:///ontology/"

/** The files of a model that the compiler reads; other files of the folder, such as a README, are not its concern. */
export const isModel = (file: OntologyFile): boolean => file.path.endsWith(".malloy")

/** The address under which the compiler knows a file of the ontology folder. */
export const urlOf = (path: string): URL => new URL(root + path.split("/").map(encodeURIComponent).join("/"))

/** Reads the files of one model by their URLs, and tells which file a URL is. */
export interface ModelFiles {
  readonly reader: URLReader
  /** The path below `ontology/` of a file of this model; undefined for any other URL. */
  readonly pathOf: (url: string) => string | undefined
}

/** The files of one model. */
export const make = (files: ReadonlyArray<OntologyFile>): ModelFiles => {
  const byUrl = new Map(files.map((file) => [urlOf(file.path).href, file]))
  return {
    pathOf: (url) => byUrl.get(url)?.path,
    reader: {
      // The key only has to be constant: a reader lives as long as one compilation, and its files do not change.
      readURL: (url) => {
        const file = byUrl.get(url.href)
        return file === undefined
          ? Promise.reject(new Error(missing(url)))
          : Promise.resolve({ contents: file.content, invalidationKey: url.href })
      },
      getInvalidationKey: (url) => Promise.resolve(url.href)
    }
  }
}

const missing = (url: URL): string =>
  url.href.startsWith(root)
    ? `there is no file ${JSON.stringify(decodeURIComponent(url.href.slice(root.length)))} in the ontology folder`
    : "an import stays inside the ontology folder"
