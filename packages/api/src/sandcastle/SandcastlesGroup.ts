/**
 * The operations of sandcastles.
 *
 * Source: api-v2.md "Sandcastles"; decisions.md §7.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { CreateLibraryChangeRequest, LibraryChangeWire, LibraryDiffWire } from "../change/LibraryChangeWire.ts"
import { ConflictError, ExecutionFailedError, InvalidRequestError } from "../error/ErrorEnvelope.ts"
import { actErrors, listErrors, readErrors, runErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, optionalBody, reportingInput } from "../wire/Operation.ts"
import { SuccessWire } from "../wire/Outcome.ts"
import { text } from "../wire/WireValue.ts"
import {
  ExecRequest,
  ExecResponse,
  ExecuteRequest,
  ExecuteResponse,
  ExecutionListWire,
  ListExecutionsQuery,
  QueryRequest,
  QueryResponse
} from "./ExecutionWire.ts"
import { ListFilesQuery, SandcastleFileListWire, SandcastleFileWire } from "./SandcastleFileWire.ts"
import {
  ListSandcastlesQuery,
  SandcastleListWire,
  SandcastleStatusWire,
  sandcastleId,
  StartedSandcastleWire,
  StartSandcastleRequest
} from "./SandcastleWire.ts"
import { UploadForm } from "./UploadRequest.ts"

const params = { id: sandcastleId }

/** A path of a file in a path. What it may not be is the operation's to refuse, with 400. */
const fileParams = {
  ...params,
  path: text("The file's path below `/sandbox/files`, percent-encoded; its slashes as `%2F` or as they are")
}

const start = HttpApiEndpoint.post("start", "/", {
  payload: optionalBody(StartSandcastleRequest),
  success: StartedSandcastleWire.pipe(HttpApiSchema.status(201)),
  error: [...writeErrors, ExecutionFailedError]
}).annotateMerge(
  operation(
    "startSandcastle",
    "Start a sandcastle",
    "Starts a new sandcastle, or one that was stopped. It stops by itself after 15 idle minutes."
  )
)

const list = HttpApiEndpoint.get("list", "/", {
  query: ListSandcastlesQuery,
  success: SandcastleListWire,
  error: listErrors
}).annotateMerge(operation("listSandcastles", "List sandcastles", "The caller's sandcastles, newest first."))

const get = HttpApiEndpoint.get("get", "/:id", {
  params,
  success: SandcastleStatusWire,
  error: readErrors
}).annotateMerge(
  operation("getSandcastle", "Get a sandcastle", "Whether the sandcastle runs, and what it uses and holds.")
)

const stop = HttpApiEndpoint.delete("stop", "/:id", {
  params,
  success: SuccessWire,
  error: actErrors
}).annotateMerge(
  operation("stopSandcastle", "Stop a sandcastle", "Stops the sandcastle. Its executions stay listed for 30 days.")
)

const execute = HttpApiEndpoint.post("execute", "/:id/execute", {
  params,
  payload: ExecuteRequest,
  success: ExecuteResponse,
  error: runErrors
}).annotateMerge(
  operation(
    "executeCode",
    "Run Python in the session",
    "Runs Python in the sandcastle's session, whose variables stay. A program that fails is no error of the request: it is told in `error`."
  )
)

const exec = HttpApiEndpoint.post("exec", "/:id/exec", {
  params,
  payload: ExecRequest,
  success: ExecResponse,
  error: runErrors
}).annotateMerge(
  operation("executeCommand", "Run a command", "Runs a shell command, or Python, in a fresh process of the sandcastle.")
)

const query = HttpApiEndpoint.post("query", "/:id/query", {
  params,
  payload: QueryRequest,
  success: QueryResponse,
  error: runErrors
}).annotateMerge(
  operation(
    "queryIntoSandcastle",
    "Query a connector into the session",
    "Runs a read-only query on a connector. Its result becomes a dataframe of the sandcastle's session."
  )
)

const interrupt = HttpApiEndpoint.post("interrupt", "/:id/interrupt", {
  params,
  success: SuccessWire,
  error: actErrors
}).annotateMerge(
  operation("interruptSandcastle", "Interrupt a sandcastle", "Stops what runs in the sandcastle; its session stays.")
)

const listFiles = HttpApiEndpoint.get("listFiles", "/:id/files", {
  params,
  query: ListFilesQuery,
  success: SandcastleFileListWire,
  error: [...readErrors, ConflictError]
}).annotateMerge(operation("listFiles", "List the files of a sandcastle", "What a folder of the sandcastle holds."))

const uploadFile = HttpApiEndpoint.post("uploadFile", "/:id/files", {
  params,
  payload: UploadForm,
  success: SandcastleFileWire.pipe(HttpApiSchema.status(201)),
  error: [...writeErrors, ExecutionFailedError]
}).annotateMerge(
  operation("uploadFile", "Upload a file", "Puts a file into the sandcastle, in place of one that has its path.")
)

const downloadFile = HttpApiEndpoint.get("downloadFile", "/:id/files/:path", {
  params: fileParams,
  success: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" }),
  error: [InvalidRequestError, ...readErrors, ConflictError]
}).annotateMerge(operation("downloadFile", "Download a file", "The bytes of a file of the sandcastle."))

const deleteFile = HttpApiEndpoint.delete("deleteFile", "/:id/files/:path", {
  params: fileParams,
  success: SuccessWire,
  error: [InvalidRequestError, ...actErrors]
}).annotateMerge(operation("deleteFile", "Delete a file", "Removes a file of the sandcastle."))

const executions = HttpApiEndpoint.get("executions", "/:id/executions", {
  params,
  query: ListExecutionsQuery,
  success: ExecutionListWire,
  error: readErrors
}).annotateMerge(
  operation(
    "listExecutions",
    "List the executions of a sandcastle",
    "What ran in the sandcastle, newest first, also after it was stopped. What is older than 30 days is purged."
  )
)

const libraryDiff = HttpApiEndpoint.get("libraryDiff", "/:id/library/diff", {
  params,
  success: LibraryDiffWire,
  error: [...readErrors, ConflictError]
}).annotateMerge(
  operation("getLibraryDiff", "Get the edits of the library", "What was done to the library in the sandcastle.")
)

const createLibraryChange = HttpApiEndpoint.post("createLibraryChange", "/:id/library/changes", {
  params,
  payload: CreateLibraryChangeRequest,
  success: LibraryChangeWire.pipe(HttpApiSchema.status(201)),
  error: writeErrors
}).annotateMerge(
  operation(
    "createLibraryChange",
    "Create a library change",
    "Makes a reviewable change of what was done to the library in the sandcastle, or a further revision of one. Where it contradicts the library, the sandcastle's library is laid out anew with `.rej` files, to be resolved and sent again under the same number."
  )
)

/** The operations of sandcastles. */
export class SandcastlesGroup extends HttpApiGroup.make("sandcastles")
  .add(
    start,
    list,
    get,
    stop,
    execute,
    exec,
    query,
    interrupt,
    listFiles,
    uploadFile,
    downloadFile,
    deleteFile,
    executions,
    libraryDiff,
    createLibraryChange
  )
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/sandcastles")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(
    OpenApi.annotations({ title: "Sandcastles", description: "Python sandboxes that record what ran in them" })
  ) {}
