/**
 * The response with a file of a sandcastle. Code that nobody vetted wrote it, so it is bytes to save, and nothing that a
 * browser shows or runs, whatever it is called.
 *
 * Source: decisions.md §7 (`GET …/{id}/files/{path}`); RFC 6266.
 */
import type { DownloadedFile } from "@castellan/core/sandcastle/SandcastleFiles"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as ContentDisposition from "../request/ContentDisposition.ts"

/** The response with a file. */
export const make = ({ content, path }: DownloadedFile): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.uint8Array(content, {
    contentType: "application/octet-stream",
    headers: {
      "content-disposition": ContentDisposition.make("attachment", path.slice(path.lastIndexOf("/") + 1)),
      "content-security-policy": "default-src 'none'; sandbox"
    }
  })
