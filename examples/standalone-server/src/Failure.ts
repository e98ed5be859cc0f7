/**
 * A start that fails, or a command, is told in one line: the operator can mend it, and a stack would not help them.
 */
import { Config, Schema, SchemaIssue } from "effect"

const formatted = SchemaIssue.makeFormatterStandardSchemaV1()

/** What went wrong, in one line; a setting by the name of its variable. */
export const told = (error: unknown): string => {
  if (error instanceof Config.ConfigError && Schema.isSchemaError(error.cause)) {
    const { issues } = formatted(error.cause.issue)
    return issues.map(({ message, path = [] }) => `${path.map(String).join(".")}: ${message}`).join("; ")
  }
  return error instanceof Error ? error.message : String(error)
}
