/**
 * Writes the OpenAPI document of the contract to `packages/api/openapi.json`. A test fails when the file is stale.
 *
 *     node scripts/openapi.ts
 */
import { document } from "@castellan/api/openapi/OpenApiDocument"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./packages.ts"

const path = join(root, "packages/api/openapi.json")
writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`)
process.stdout.write(`${path}: ${Object.keys(document["paths"] ?? {}).length} paths\n`)
