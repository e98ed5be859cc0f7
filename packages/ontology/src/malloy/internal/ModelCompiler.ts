/**
 * Compiles the files of an ontology into one model with Malloy's compiler.
 */
import {
  CacheManager,
  type InfoConnection,
  InMemoryModelCache,
  type LookupConnection,
  Malloy,
  MalloyTranslator,
  type Model
} from "@malloydata/malloy"
import type { Connector } from "@castellan/core/connector/Connector"
import { ConnectorDriver } from "@castellan/core/connector/ConnectorDriver"
import type { OntologyFile } from "@castellan/core/ontology/Ontology"
import { OntologyError, type OntologyInput, type OntologyProblem } from "@castellan/core/ontology/OntologyEngine"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Result from "effect/Result"
import * as MalloyName from "../MalloyName.ts"
import { describe, type DescribedSource } from "./Description.ts"
import { lookup } from "./DriverConnection.ts"
import * as ModelFiles from "./ModelFiles.ts"
import * as Problems from "./Problems.ts"

/** A compiled ontology: everything that a query or a description of it needs. */
export interface CompiledModel {
  readonly model: Model
  readonly sources: ReadonlyArray<DescribedSource>
  readonly connectors: ReadonlyArray<Connector>
  /** The path of a file of the model, by the URL under which the compiler knows it. */
  readonly pathOf: (url: string) => string | undefined
}

/** A file of the model, compiled with what it imports. */
interface CompiledFile {
  readonly file: OntologyFile
  readonly model: Model
}

/** One run of the compiler over one set of files. */
interface Compilation {
  readonly files: ModelFiles.ModelFiles
  readonly connections: LookupConnection<InfoConnection>
  /** A file that others import is translated once. */
  readonly cacheManager: CacheManager
}

/** The text, which is no file, that brings the exports of all files together. */
const union = "everything.malloy"

/**
 * Compiles all files of an ontology. Fails with every problem of every file; the problems of a file that others import
 * count once.
 */
export const compile: (input: OntologyInput) => Effect.Effect<CompiledModel, OntologyError, ConnectorDriver> =
  Effect.fnUntraced(function* (input) {
    const modelFiles = input.files.filter(ModelFiles.isModel)
    const files = ModelFiles.make(modelFiles)
    const driver = yield* ConnectorDriver
    // Interrupting the compilation interrupts what it asks of the connectors.
    const runPromise = yield* FiberSet.makeRuntimePromise()
    const compilation: Compilation = {
      files,
      connections: lookup(input.connectors, driver, runPromise),
      cacheManager: new CacheManager(new InMemoryModelCache())
    }

    const results = yield* Effect.forEach(modelFiles, (file) =>
      Effect.result(
        Effect.map(translate(compilation, file.path, file.content), (model): CompiledFile => ({ file, model }))
      )
    )
    const failures = results.flatMap((result) => (Result.isFailure(result) ? result.failure : []))
    const compiled = results.flatMap((result) => (Result.isSuccess(result) ? [result.success] : []))
    const { clashes, imports } = exportsOf(files, compiled)
    const circles = failures.some(isNesting) ? importCircles(modelFiles) : []
    yield* refuse(circles.length > 0 ? [...failures.filter((found) => !isNesting(found)), ...circles] : failures)
    yield* refuse(clashes)

    const model = yield* Effect.catch(translate(compilation, union, imports), (problems) => refused(problems))
    const scope: Problems.Scope = { path: union, pathOf: files.pathOf }
    const description = describe(scope, model.explores)
    yield* refuse(description.problems)
    return { model, sources: description.sources, connectors: input.connectors, pathOf: files.pathOf }
  }, Effect.scoped)

const refused = (problems: ReadonlyArray<OntologyProblem>) =>
  Effect.fail(new OntologyError({ problems: Problems.sorted(problems) }))

const refuse = (problems: ReadonlyArray<OntologyProblem>) => (problems.length > 0 ? refused(problems) : Effect.void)

const translate = ({ cacheManager, connections, files }: Compilation, path: string, source: string) =>
  Effect.tryPromise({
    try: () =>
      Malloy.compile({ url: ModelFiles.urlOf(path), source, urlReader: files.reader, connections, cacheManager }),
    catch: (failure) => Problems.of({ path, pathOf: files.pathOf }, failure)
  })

/**
 * The imports that bring the exports of all files together. A file may export what it imports: that is one thing, under
 * one name. Two things under one name are a clash.
 */
const exportsOf = (files: ModelFiles.ModelFiles, compiled: ReadonlyArray<CompiledFile>) => {
  const owners = new Map<string, string>()
  const clashes: Array<OntologyProblem> = []
  const imports: Array<string> = []
  for (const { file, model } of compiled) {
    const names: Array<string> = []
    const { _modelDef: definition } = model
    for (const name of definition.exports) {
      const content = model.getContent(name)
      const location = content !== undefined && "location" in content ? content.location : undefined
      const declared = location === undefined ? file.path : `${location.url}:${location.range.start.line}`
      const owner = owners.get(name)
      if (owner === undefined) {
        owners.set(name, declared)
        names.push(MalloyName.quote(name))
      } else if (owner !== declared) {
        const other = files.pathOf(owner.slice(0, owner.lastIndexOf(":"))) ?? "another file"
        const message = `${JSON.stringify(name)} is declared in ${other} as well; a name belongs to one of them`
        clashes.push(Problems.at({ path: file.path, pathOf: files.pathOf }, location, message))
      }
    }
    if (names.length > 0) {
      imports.push(`import { ${names.join(", ")} } from ${JSON.stringify(ModelFiles.urlOf(file.path).href)}`)
    }
  }
  return { clashes, imports: imports.join("\n") }
}

const isNesting = (problem: OntologyProblem): boolean => problem.message === Problems.nestedTooDeeply

/** The imports by which files import each other in a circle, on which the compiler runs until its stack is full. */
const importCircles = (files: ReadonlyArray<OntologyFile>): ReadonlyArray<OntologyProblem> => {
  const byUrl = new Map(files.map((file) => [ModelFiles.urlOf(file.path).href, file]))
  const imports = new Map<string, ReadonlyArray<string>>()
  for (const [url, file] of byUrl) {
    const { urls = [] } = new MalloyTranslator(url, url, { urls: { [url]: file.content } }).translate()
    imports.set(
      url,
      urls.filter((imported) => byUrl.has(imported))
    )
  }
  const reaches = (from: string, wanted: string, seen: Set<string>): boolean =>
    (imports.get(from) ?? []).some((next) => {
      if (next === wanted) return true
      if (seen.has(next)) return false
      seen.add(next)
      return reaches(next, wanted, seen)
    })
  return Array.from(byUrl).flatMap(([url, file]) => {
    const circular = (imports.get(url) ?? []).find((next) => next === url || reaches(next, url, new Set()))
    const imported = circular === undefined ? undefined : byUrl.get(circular)
    if (imported === undefined) return []
    const line = file.content
      .split("\n")
      .findIndex((text) => /\bimport\b/.test(text) && text.includes(nameOf(imported)))
    return [
      {
        path: file.path,
        line: Math.max(line, 0) + 1,
        column: 1,
        message: `this file and ${imported.path} import each other, directly or through other files`
      }
    ]
  })
}

const nameOf = (file: OntologyFile): string => file.path.slice(file.path.lastIndexOf("/") + 1)
