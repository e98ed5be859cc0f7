/**
 * Operations that take as long as what they run, or as a file takes to arrive. They have limits of their own.
 */
import { ChatsGroup } from "@castellan/api/chat/ChatsGroup"
import { PlaybooksGroup } from "@castellan/api/playbook/PlaybooksGroup"
import { SandcastlesGroup } from "@castellan/api/sandcastle/SandcastlesGroup"
import * as FindMyWay from "effect/http/FindMyWay"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { matching } from "../request/RouteTable.ts"

const { exec, execute, query, uploadFile } = SandcastlesGroup.endpoints
const operations = [ChatsGroup.endpoints.ask, PlaybooksGroup.endpoints.run, execute, exec, query, uploadFile]

const routes = FindMyWay.make<true>(matching)
for (const { method, path } of operations) routes.on(method, path, true)

/** Whether a request is for one of them. */
export const isFor = ({ method, url }: Pick<HttpServerRequest.HttpServerRequest, "method" | "url">): boolean =>
  routes.find(method, url) !== undefined
