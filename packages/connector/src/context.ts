import type { Rejects } from './rejects.ts'
import type { Uploads } from './uploads.ts'
import type { Values } from './values.ts'

/**
 * Context that the engine gives a connector. A connector reads no environment variables, opens no files, and uses the
 * network only through `egress`, which connects only to allowed addresses.
 */
export type ConnectorContext = {
  /** The connector's saved secrets and settings, by field key, defaults filled in. */
  readonly secrets: Values
  /** The connection's values of this end, by field key, defaults filled in; empty if no connection is at hand. */
  readonly settings: Values
  /** Aborted when the work is to stop: cancelled, disabled, or the process ends. */
  readonly signal: AbortSignal
  readonly egress: Egress
  /** Directories that the operator allows connectors to read and write; none unless named. Absolute paths. */
  readonly localFolders: readonly string[]
  /** Files that were uploaded to the sub-account. */
  readonly uploads: Uploads
  /** Records that transfers of other connections of the sub-account rejected. */
  readonly rejects: Rejects
  /**
   * Replaces a secret of the connector that is saved, such as a refresh token that is good for one use. One process at
   * a time does so for one secret; every process sees the new value from then on, even if this job fails afterwards.
   * @param key the field of the connector's secrets
   * @param renew gets the value that is saved now, which another process may have replaced since the job began, and
   * resolves with the next one within 30 seconds; if it throws, the error is passed on and the secret does not change.
   * If the job ends meanwhile, it is still awaited, so that a used value is replaced
   * @returns the value that is saved now: the new one, or the one that a person saved meanwhile
   */
  saveSecret(key: string, renew: (current: string) => Promise<string>): Promise<string>
  /**
   * Adds a line to the log of the transfer, for people. Secrets are removed from it; do not put values of records into it. Without a transfer
   * it does nothing, and a transfer keeps at most 200 lines of its connectors.
   * @param text of at most 500 characters; longer ones are cut
   */
  log(text: string): void
}

/** The only way out. */
export type Egress = {
  /**
   * `fetch`, with addresses checked after DNS resolution and at every redirect. Resolves with any status. The body
   * streams: read it to its end or cancel it. To another origin, a redirect takes no header that could hold a secret.
   * Throws a `ConnectorError`: `address_not_allowed`, `unreachable` if nothing answers, `connection_lost`, `timeout` or
   * `malformed_response` if the response broke off, took longer than `timeoutMs` or is not HTTP, and
   * `response_too_large` if it exceeds the bounds of the egress. Throws the signal's reason as soon as that is aborted.
   */
  request(url: string | URL, init?: EgressRequest): Promise<Response>
  /**
   * The IP address to connect to for a host name, checked like those of `request`; for protocols other than HTTP.
   * @param port the port that will be connected to; without it, what is allowed on one port alone is not
   * Throws a `ConnectorError`: `address_not_allowed`, and `host_not_found` where the name is not known.
   */
  resolve(host: string, port?: number): Promise<string>
}

export type EgressRequest = {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array | ReadableStream<Uint8Array>
  signal?: AbortSignal
  /** Until the answer's headers are there, and then between two chunks of its body. 60,000 unless said otherwise. */
  timeoutMs?: number
  /**
   * The answer is a file that is read piece by piece and may be large and slow: at least 1 KiB a second on average. Any
   * other answer is one that is read whole, and must come within a minute or at 64 KiB a second (`egressBounds`). Only the
   * time in which the reader waits for the server counts.
   */
  streams?: boolean
  /** Redirects that are followed; 0 unless said otherwise, and a redirect is then an answer like any other. */
  redirectsMax?: number
}
