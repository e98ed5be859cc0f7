/**
 * The part of Deno that the child processes use, which Node's types do not know.
 */

/** `Deno`, as far as it is used. */
export interface DenoRuntime {
  readonly stdin: { readonly readable: AsyncIterable<Uint8Array> }
  readonly stdout: { readonly writeSync: (bytes: Uint8Array) => number }
  readonly permissions: {
    readonly revokeSync: (permission: { readonly name: string }) => { readonly state: string }
    readonly querySync: (permission: { readonly name: string }) => { readonly state: string }
    readonly requestSync: (permission: { readonly name: string }) => { readonly state: string }
  }
  readonly stderr: { readonly writeSync: (bytes: Uint8Array) => number }
  readonly readFileSync: (path: string) => Uint8Array<ArrayBuffer>
  readonly exit: (code: number) => never
}

/** The permissions that Deno knows. A session has none of them. */
export const everyPermission = ["read", "write", "net", "env", "run", "sys", "ffi"] as const

/**
 * Gives up every permission for good, and makes sure of it: a process that still has one ends rather than to run
 * anything.
 */
export const renounce = (deno: DenoRuntime): void => {
  for (const name of everyPermission) {
    deno.permissions.revokeSync({ name })
    if (deno.permissions.querySync({ name }).state === "granted") deno.exit(77)
  }
}

/** Says something to whoever runs the host. */
export const complain = (deno: DenoRuntime, what: unknown): void => {
  deno.stderr.writeSync(new TextEncoder().encode(`${String(what)}\n`))
}

/** Writes all of some bytes to the host, which are held back while it does not read. */
export const writeAll = (deno: DenoRuntime, bytes: Uint8Array): void => {
  let rest = bytes
  while (rest.length > 0) rest = rest.subarray(deno.stdout.writeSync(rest))
}
