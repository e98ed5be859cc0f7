/**
 * The failures of a session, in words fit for its user.
 */
import { SandboxError, type SandboxFailure } from "@castellan/core/sandcastle/SandboxRuntime"
import type { Report } from "../protocol/Report.ts"
import { harmless } from "./OutputText.ts"

/** The session is gone. */
export const lost = new SandboxError({ reason: "lost", message: "the session is gone" })

/** A failure of one of the kinds of the port. */
export const failure = (reason: SandboxFailure, message: string): SandboxError => new SandboxError({ reason, message })

const longest = 4_000

/** Words that nobody vetted, made harmless, and no longer than a reader or a frame of the protocol has room for. */
export const inWords = (text: string): string => harmless(text.slice(0, longest))

/** What a supervisor refused. Its words come out of the sandbox. */
export const refused = (report: Extract<Report, { readonly event: "failed" }>): SandboxError =>
  new SandboxError({
    reason: report.reason === "too_many_files" ? "exhausted" : report.reason,
    message: inWords(report.message)
  })
