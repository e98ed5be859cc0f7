/**
 * The operations of apps.
 *
 * Source: decisions.md §9 (`/v2/apps`).
 */
import { AppId } from "@castellan/core/app/App"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import { actErrors, listErrors, readErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { uuid } from "../wire/WireValue.ts"
import { AppDeletionWire, AppListWire, AppWire, CreateAppRequest, ListAppsQuery, UpdateAppRequest } from "./AppWire.ts"

const params = { id: uuid(AppId, "The app's id") }

const create = HttpApiEndpoint.post("create", "/", {
  payload: CreateAppRequest,
  success: AppWire.pipe(HttpApiSchema.status(201)),
  error: writeErrors
}).annotateMerge(
  operation("createApp", "Create an app", "Publishes some of a chat's assets, in an order. It needs `app:write`.")
)

const list = HttpApiEndpoint.get("list", "/", {
  query: ListAppsQuery,
  success: AppListWire,
  error: listErrors
}).annotateMerge(operation("listApps", "List apps", "The apps that the caller may read."))

const get = HttpApiEndpoint.get("get", "/:id", { params, success: AppWire, error: readErrors }).annotateMerge(
  operation("getApp", "Get an app", "An app with its assets, whose addresses are signed anew on every fetch.")
)

const update = HttpApiEndpoint.patch("update", "/:id", {
  params,
  payload: UpdateAppRequest,
  success: AppWire,
  error: writeErrors
}).annotateMerge(operation("updateApp", "Update an app", "Changes an app; what is absent stays."))

const remove = HttpApiEndpoint.delete("delete", "/:id", {
  params,
  success: AppDeletionWire,
  error: actErrors
}).annotateMerge(operation("deleteApp", "Delete an app", "Deletes an app. The chat and its assets stay."))

/** The operations of apps. */
export class AppsGroup extends HttpApiGroup.make("apps")
  .add(create, list, get, update, remove)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/apps")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "Apps", description: "Published dashboards" })) {}
