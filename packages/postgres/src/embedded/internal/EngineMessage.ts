/**
 * What the thread of the embedded database and the thread of the service tell each other.
 */

/** How the thread is started. */
export interface EngineOptions {
  /** The folder that it keeps everything in. */
  readonly folder: string
  /** Milliseconds between two looks for what has to be maintained; half a minute unless given. */
  readonly maintenanceInterval?: number
}

/** Why the database cannot be started. */
export type StartFailure =
  /** Another process works on the folder. */
  | "InUse"
  /** The folder, or what is in it, cannot be used. */
  | "Unusable"

/** To the database. */
export type EngineRequest =
  /** A session begins, as a role or as the owner of everything. */
  | { readonly type: "open"; readonly session: number; readonly role: string | undefined }
  /** Whole messages of the wire protocol. */
  | { readonly type: "data"; readonly session: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** A session ends. */
  | { readonly type: "close"; readonly session: number }
  /** The database ends, in order. */
  | { readonly type: "stop" }

/** From the database. */
export type EngineAnswer =
  | { readonly type: "ready" }
  | { readonly type: "failed"; readonly failure: StartFailure; readonly message: string }
  /** Bytes of the wire protocol. */
  | { readonly type: "data"; readonly session: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** The session is over, from the database's side. */
  | { readonly type: "closed"; readonly session: number }
