/**
 * Wheels of pure Python, made by hand: a zip archive whose files are stored as they are, with the metadata that
 * installers look for.
 */
import { createHash } from "node:crypto"
import { crc32 } from "node:zlib"

/** A zip archive of uncompressed files. */
const zipOf = (files: Readonly<Record<string, Buffer>>): Buffer => {
  const locals: Array<Buffer> = []
  const centrals: Array<Buffer> = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const path = Buffer.from(name)
    const about = Buffer.alloc(26)
    about.writeUInt16LE(20, 0)
    about.writeUInt16LE(33, 8)
    about.writeUInt32LE(crc32(content), 10)
    about.writeUInt32LE(content.length, 14)
    about.writeUInt32LE(content.length, 18)
    about.writeUInt16LE(path.length, 22)
    const local = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), about, path, content])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    centrals.push(Buffer.concat([Buffer.from([0x50, 0x4b, 1, 2, 20, 0]), about, tail, path]))
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(centrals.length, 8)
  end.writeUInt16LE(centrals.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, central, end])
}

/** A wheel of some modules. */
export const wheelOf = (name: string, version: string, modules: Readonly<Record<string, string>>): Uint8Array => {
  const about = `${name}-${version}.dist-info`
  const files: Record<string, Buffer> = {}
  for (const [path, text] of Object.entries(modules)) files[path] = Buffer.from(text)
  files[`${about}/METADATA`] = Buffer.from(`Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`)
  files[`${about}/WHEEL`] = Buffer.from(
    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
  )
  const record = Object.entries(files).map(([path, content]) => {
    const digest = createHash("sha256").update(content).digest("base64url")
    return `${path},sha256=${digest},${content.length}`
  })
  files[`${about}/RECORD`] = Buffer.from([...record, `${about}/RECORD,,`, ""].join("\n"))
  return zipOf(files)
}
