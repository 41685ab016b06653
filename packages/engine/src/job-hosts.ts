import type {
  OpenedStream,
  RejectPlace,
  Rejects,
  RejectsOfConnection,
  StreamStart,
  UploadedFile,
} from '@penstock/connector'

/** A secret of a configuration of the job. */
export type SecretReference = {
  readonly slug: string
  readonly configurationId?: string | undefined
  readonly key: string
}

/** Result of a request for the exclusive lease to replace a secret. */
export type SecretLease =
  /** The right, and the value that is saved now. It ends when the secret is replaced or released, and after a while. */
  | { readonly state: 'leased'; readonly leaseId: string; readonly value: string }
  /** Another job has the lease. */
  | { readonly state: 'busy' }
  /** No value is saved. */
  | { readonly state: 'missing' }
  /** A secret manager has the value, which is not replaced there. */
  | { readonly state: 'reference' }

/** Calls of any job to its supervisor about the secrets of its connectors. */
export type SecretHost = {
  /** Requests a lease to replace a secret. Only one job on all machines can have it at a time. */
  leaseSecret(secret: SecretReference): Promise<SecretLease>
  /**
   * Saves the new value.
   * @returns the value that is saved now; it differs if a person has saved another value since, and is `null` if it was removed
   */
  replaceSecret(replacement: { readonly leaseId: string; readonly value: string }): Promise<string | null>
  /** Releases the lease, and leaves the secret unchanged. */
  releaseSecret(leaseId: string): Promise<void>
}

export const isSecretMethod = (method: string): method is keyof SecretHost =>
  method === 'leaseSecret' || method === 'replaceSecret' || method === 'releaseSecret'

/** Calls of any job to its supervisor about the identity of its sub-account. */
export type IdentityHost = {
  /** Signs a token for the audience. Only a connector that signs in by identity tokens gets one. */
  identityToken(wanted: {
    readonly slug: string
    readonly configurationId?: string | undefined
    readonly audience: string
  }): Promise<string>
}

export const isIdentityMethod = (method: string): method is keyof IdentityHost => method === 'identityToken'

/** Calls of any job to its supervisor about uploaded files of the sub-account. */
export type UploadHost = {
  findUploads(query: {
    readonly search: string
    readonly size: number
    readonly offset: number
  }): Promise<readonly Pick<UploadedFile, 'id' | 'name'>[]>
  /** Null: the sub-account does not have the file (any more). */
  openUpload(id: string): Promise<UploadedFile | null>
  /** A piece of an open file, in base64; null if the file was deleted. */
  readUpload(piece: { readonly id: string; readonly number: number }): Promise<string | null>
}

export const isUploadMethod = (method: string): method is keyof UploadHost =>
  method === 'findUploads' || method === 'openUpload' || method === 'readUpload'

/** Calls of any job to its supervisor about rejected records of the sub-account. */
export type RejectHost = {
  findRejecting(query: {
    readonly search: string
    readonly size: number
    readonly offset: number
  }): ReturnType<Rejects['connections']>
  /** Null: the sub-account has no such connection, or the connection reads rejected records itself. */
  readRejected(query: { readonly connection: string; readonly after: RejectPlace }): Promise<RejectsOfConnection | null>
}

export const isRejectMethod = (method: string): method is keyof RejectHost =>
  method === 'findRejecting' || method === 'readRejected'

/** Some events, as a message contains them. */
export type EventBatch = { readonly first: number; readonly count: number; readonly lines: string }

/** Calls of any job to its supervisor about the stream of events of its source. */
export type EventHost = {
  openStream(start: StreamStart): Promise<OpenedStream>
  /** Batches with the events after a number, or the newest batches. `lines` are in base64. */
  readEvents(after: number | null): Promise<readonly EventBatch[]>
}

export const isEventMethod = (method: string): method is keyof EventHost =>
  method === 'openStream' || method === 'readEvents'

/**
 * Events to put, as a message contains them. Each event has a line of JSON, `[received, key, message ID]`, and a line with the
 * event.
 */
export type EventsToPut = { readonly count: number /** Compressed with zstd, in base64. */; readonly lines: string }

/** The result of putting events: the refused events by their place. */
export type EventsPut = { readonly refused: readonly { readonly index: number; readonly reason: string }[] }

/** Calls of a job that puts events. */
export type PutHost = {
  /** Reports the last events, and waits for the next ones. Null: the job has ended. */
  nextEvents(put: EventsPut | null): Promise<EventsToPut | null>
}
