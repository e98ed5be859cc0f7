/**
 * What the operations are made of. Whatever is there when an operation is made is copied for each of its requests, so
 * these are handed to its making in one piece, and stay out of what is copied.
 */
import { Accesses } from "@castellan/core/access/Accesses"
import { Authentication } from "@castellan/core/access/Authentication"
import { Agents } from "@castellan/core/agent/Agents"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import { Apps } from "@castellan/core/app/Apps"
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { AuditEvents } from "@castellan/core/audit/AuditEvents"
import { Changes } from "@castellan/core/change/Changes"
import { Chats } from "@castellan/core/chat/Chats"
import { Connectors } from "@castellan/core/connector/Connectors"
import { FolderPolicies } from "@castellan/core/folderpolicy/FolderPolicies"
import { Members } from "@castellan/core/member/Members"
import { Models } from "@castellan/core/model/Models"
import { Organizations } from "@castellan/core/organization/Organizations"
import { PlaybookExecution } from "@castellan/core/playbook/PlaybookExecution"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import { RateLimits } from "@castellan/core/ratelimit/RateLimits"
import { Roles } from "@castellan/core/role/Roles"
import { RowPolicies } from "@castellan/core/rowpolicy/RowPolicies"
import { RunLog } from "@castellan/core/run/RunLog"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { ScimGroupMappings } from "@castellan/core/scim/ScimGroupMappings"
import { Sessions } from "@castellan/core/session/Sessions"
import { Budgets } from "@castellan/core/usage/Budgets"
import { Usage } from "@castellan/core/usage/Usage"
import type * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Etag from "effect/http/Etag"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpPlatform from "effect/http/HttpPlatform"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { AssetSignature } from "../asset/AssetSignature.ts"
import { Idempotency } from "../idempotency/Idempotency.ts"
import { PageTokens } from "../page/PageTokens.ts"
import { RunBroadcast } from "../stream/RunBroadcast.ts"
import * as Surroundings from "./Surroundings.ts"

/** The services of the operations. */
export type OperationServices =
  | Accesses
  | Agents
  | ApiKeys
  | Apps
  | AssetSignature
  | AssetStore
  | AuditEvents
  | Authentication
  | Budgets
  | Changes
  | Chats
  | Connectors
  | Etag.Generator
  | FileSystem.FileSystem
  | FolderPolicies
  | HttpPlatform.HttpPlatform
  | Idempotency
  | Members
  | Models
  | Organizations
  | PageTokens
  | Path.Path
  | PlaybookExecution
  | Playbooks
  | RateLimits
  | Roles
  | RowPolicies
  | RunBroadcast
  | RunLog
  | Sandcastles
  | ScimGroupMappings
  | Sessions
  | Usage

const pick = Context.pick(
  Accesses,
  Agents,
  ApiKeys,
  Apps,
  AssetSignature,
  AssetStore,
  AuditEvents,
  Authentication,
  Budgets,
  Changes,
  Chats,
  Connectors,
  Etag.Generator,
  FileSystem.FileSystem,
  FolderPolicies,
  HttpPlatform.HttpPlatform,
  Idempotency,
  Members,
  Models,
  Organizations,
  PageTokens,
  Path.Path,
  PlaybookExecution,
  Playbooks,
  RateLimits,
  Roles,
  RowPolicies,
  RunBroadcast,
  RunLog,
  Sandcastles,
  ScimGroupMappings,
  Sessions,
  Usage
)

/** The services, for whatever makes operations of them. */
export class Given extends Context.Service<Given, Context.Context<OperationServices>>()(
  "@castellan/http/request/OperationServices/Given"
) {}

/** Makes operations of the services, so that none of their requests is given these once more. */
export const given = <A, E, R>(
  making: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, OperationServices> | Given> =>
  Effect.flatMap(Given, (services) => Effect.provideContext(making, services))

/** What the operations' requests are carried out with, as the platform has it. */
const platform = Context.pick(Etag.Generator, FileSystem.FileSystem, HttpPlatform.HttpPlatform, Path.Path, Scope.Scope)

const runtime = Context.pick(Etag.Generator, FileSystem.FileSystem, HttpPlatform.HttpPlatform, Path.Path)

/** What the operations' requests are carried out among: the surroundings, the platform, and how large a body may be. */
export const surroundings = (
  maxBodySize: ByteSize.ByteSize
): Effect.Effect<Context.Context<never>, never, OperationServices> =>
  Effect.contextWith((context: Context.Context<OperationServices>) =>
    Effect.succeed(
      Surroundings.of(context).pipe(
        // A request has its own, and is no part of what the application was made in.
        Context.omit(Scope.Scope, Tracer.ParentSpan),
        Context.merge(runtime(context)),
        Context.add(HttpIncomingMessage.MaxBodySize, maxBodySize)
      )
    )
  )

/** What operations are made among. */
type Made = Etag.Generator | FileSystem.FileSystem | Given | HttpPlatform.HttpPlatform | Path.Path | Scope.Scope

/** A context with the surroundings of requests, the platform and what `given` takes, and nothing else of the library. */
export const only = (context: Context.Context<OperationServices | Scope.Scope>): Context.Context<Made> =>
  Context.add(Context.merge(Surroundings.of(context), platform(context)), Given, pick(context))

/** The services as a layer, for what stands between requests and operations. */
export const layer: Layer.Layer<OperationServices, never, Given> = Layer.effectContext(Given)
