/**
 * The operations of the Connect protocol as a Connect client knows them: descriptors of Protocol Buffers, made here
 * rather than generated.
 */
import { create, createFileRegistry, type DescMethod, type DescMethodUnary } from "@bufbuild/protobuf"
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp
} from "@bufbuild/protobuf/wkt"

const scalar = { string: FieldDescriptorProto_Type.STRING, int32: FieldDescriptorProto_Type.INT32 } as const

/** A message of fields by their names, each with its type: a scalar, or the full name of a message. */
const message = (name: string, fields: Readonly<Record<string, string>>) => ({
  name,
  field: Object.entries(fields).map(([field, type], index) => ({
    name: field,
    jsonName: field,
    number: index + 1,
    label: FieldDescriptorProto_Label.OPTIONAL,
    ...(type === "string" || type === "int32"
      ? { type: scalar[type] }
      : { type: FieldDescriptorProto_Type.MESSAGE, typeName: `.${type}` })
  }))
})

/** A file of one service with one method. */
const file = (pkg: string, name: string, method: string, messages: ReadonlyArray<ReturnType<typeof message>>) => {
  const prefix = pkg === "" ? "" : `.${pkg}`
  return create(FileDescriptorProtoSchema, {
    name: `${name}.proto`,
    package: pkg,
    syntax: "proto3",
    dependency: ["google/protobuf/struct.proto", "google/protobuf/timestamp.proto"],
    messageType: [...messages],
    service: [
      {
        name,
        method: [{ name: method, inputType: `${prefix}.${method}Request`, outputType: `${prefix}.${method}Response` }]
      }
    ]
  })
}

const app = "svc.rpc.public.app"

const registry = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: [
      file_google_protobuf_struct.proto,
      file_google_protobuf_timestamp.proto,
      file(app, "AppService", "GetApp", [
        message("App", {
          appId: "string",
          name: "string",
          description: "string",
          createdAt: "google.protobuf.Timestamp",
          updatedAt: "google.protobuf.Timestamp",
          url: "string"
        }),
        message("GetAppRequest", { appId: "string" }),
        message("GetAppResponse", { app: `${app}.App` })
      ]),
      file("svc.rpc.public.rbac", "RBACService", "MigrateAllScimGroupMappings", [
        message("MigrateAllScimGroupMappingsRequest", {}),
        message("MigrateAllScimGroupMappingsResponse", { migratedMappingCount: "int32" })
      ]),
      // The webhook's address ends as one of a service `webhook` with a method `trigger` does.
      file("", "webhook", "trigger", [
        message("triggerRequest", { triggerId: "string", payload: "google.protobuf.Struct" }),
        message("triggerResponse", { status: "string", runId: "string" })
      ])
    ]
  })
)

const isUnary = (method: DescMethod | undefined): method is DescMethodUnary => method?.methodKind === "unary"

const method = (name: string): DescMethodUnary => {
  const [only] = registry.getService(name)?.methods ?? []
  if (!isUnary(only)) throw new Error(`no unary method of ${name}`)
  return only
}

/** `svc.rpc.public.app.AppService/GetApp` */
export const getApp = method(`${app}.AppService`)

/** `svc.rpc.public.rbac.RBACService/MigrateAllScimGroupMappings` */
export const migrate = method("svc.rpc.public.rbac.RBACService")

/** `webhook/trigger`, beneath `/v1/agents`. */
export const trigger = method("webhook")
