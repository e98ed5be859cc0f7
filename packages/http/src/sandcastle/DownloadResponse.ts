/**
 * The response with a file of a sandcastle. Code that nobody vetted wrote it, so it is bytes to save, and nothing that a
 * browser shows or runs, whatever it is called.
 *
 * Source: decisions.md §7 (`GET …/{id}/files/{path}`); RFC 6266.
 */
import type { DownloadedFile } from "@castellan/core/sandcastle/SandcastleFiles"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** The characters that `encodeURIComponent` leaves and RFC 8187 does not. */
const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/gu, (character) => `%${character.charCodeAt(0).toString(16)}`)

/** The name in a form that every client reads, and in full for those that read it. */
const disposition = (name: string): string => {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/gu, "_")
  return `attachment; filename="${plain}"${plain === name ? "" : `; filename*=UTF-8''${encoded(name)}`}`
}

/** The response with a file. */
export const make = ({ content, path }: DownloadedFile): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.uint8Array(content, {
    contentType: "application/octet-stream",
    headers: {
      "content-disposition": disposition(path.slice(path.lastIndexOf("/") + 1)),
      "content-security-policy": "default-src 'none'; sandbox"
    }
  })
