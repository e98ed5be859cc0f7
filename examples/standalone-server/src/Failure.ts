/**
 * A start that fails, or a command, is told in one line: the operator can mend it, and a stack would not help them.
 */
import { Config, PlatformError, Schema, SchemaIssue } from "effect"

const formatted = SchemaIssue.makeFormatterStandardSchemaV1()

/** What became of a file, for those who have named it wrongly. */
const ofFile: { readonly [reason: string]: string } = {
  NotFound: "there is no such file or folder",
  PermissionDenied: "this user may not open it"
}

/** What went wrong, in one line; a setting by the name of its variable. */
export const told = (error: unknown): string => {
  if (error instanceof Config.ConfigError && Schema.isSchemaError(error.cause)) {
    const { issues } = formatted(error.cause.issue)
    return issues.map(({ message, path = [] }) => `${path.map(String).join(".")}: ${message}`).join("; ")
  }
  if (error instanceof PlatformError.PlatformError && error.reason instanceof PlatformError.SystemError) {
    const { _tag, pathOrDescriptor } = error.reason
    const why = ofFile[_tag]
    if (why !== undefined && pathOrDescriptor !== undefined) return `${pathOrDescriptor}: ${why}`
  }
  return error instanceof Error ? error.message : String(error)
}
