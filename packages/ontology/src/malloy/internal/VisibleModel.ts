/**
 * A compiled model as somebody sees it who may not use every connector: what is over the others is not there at all,
 * so that neither a query, nor an error, nor a suggestion can tell of it.
 */
import { Model } from "@malloydata/malloy"
import type { CompiledModel } from "./ModelCompiler.ts"

type Contents = Model["_modelDef"]["contents"]

/** The connection that a name of a model draws on; nothing for what draws on none, such as a type. */
const connectionOf = (contents: Contents, name: string): string | undefined => {
  const content = contents[name]
  if (content === undefined) return undefined
  if (content.type === "query") {
    return typeof content.structRef === "string"
      ? connectionOf(contents, content.structRef)
      : content.structRef.connection
  }
  return "connection" in content && typeof content.connection === "string" ? content.connection : undefined
}

/** The part of a model that is over visible connectors; all of it where every connector is. */
export const restrict = (compiled: CompiledModel, visible: ReadonlySet<string>): CompiledModel => {
  if (compiled.connectors.every(({ name }) => visible.has(name))) return compiled
  const { _modelDef: definition } = compiled.model
  const isVisible = (name: string): boolean => {
    const connection = connectionOf(definition.contents, name)
    return connection === undefined || visible.has(connection)
  }
  const contents: Contents = Object.fromEntries(Object.entries(definition.contents).filter(([name]) => isVisible(name)))
  return {
    ...compiled,
    model: new Model({ ...definition, contents, exports: definition.exports.filter(isVisible) }, [], []),
    sources: compiled.sources.filter(({ source }) => visible.has(source.connector)),
    connectors: compiled.connectors.filter(({ name }) => visible.has(name))
  }
}
