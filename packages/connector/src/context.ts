import type { Duplex } from 'node:stream'
import type { EventStreams } from './event-streams.ts'
import type { Rejects } from './rejects.ts'
import type { Uploads } from './uploads.ts'
import type { Values } from './values.ts'

/**
 * Context of a connector, from the engine. A connector reads no environment variables, opens no files, and uses the network
 * only through `egress`, which connects only to allowed addresses.
 */
export type ConnectorContext = {
  /** The connector's saved secrets and settings, by field key, defaults filled in. */
  readonly secrets: Values
  /** The connection's values of this side, by field key, with defaults; empty without a connection. */
  readonly settings: Values
  /** Aborted when the work must stop: it was cancelled or disabled, or the process ends. */
  readonly signal: AbortSignal
  readonly egress: Egress
  /** Directories that the operator allows connectors to read and write, as absolute paths; empty by default. */
  readonly localFolders: readonly string[]
  /** Files that were uploaded to the sub-account. */
  readonly uploads: Uploads
  /** Records that transfers of other connections of the sub-account rejected. */
  readonly rejects: Rejects
  /** The stream of events of the connector's configuration. */
  readonly events: EventStreams
  /**
   * Replaces a saved secret of the connector, such as a refresh token for a single use. Only one process at a time can do this
   * for a secret. Every process sees the new value from then on, even if this job fails afterwards.
   * @param key the field of the connector's secrets
   * @param renew receives the saved value, which another process may have replaced since the job began, and resolves with the
   *   next value within 30 seconds. If it throws, the error is passed on and the secret does not change. If the job ends in the
   *   meantime, it is still awaited, so that a used value is replaced
   * @returns the saved value: the new one, or a value that a person saved in the meantime
   */
  saveSecret(key: string, renew: (current: string) => Promise<string>): Promise<string>
  /**
   * Returns a token of OpenID Connect that this service signed. It states which sub-account the job is of, is valid for five
   * minutes, and signs in at a cloud that trusts this service. Send it only to the cloud itself, never to an address that a
   * setting names. Only for a connector with a field that has `identity`.
   * @param audience whom the token is for: 1 to 500 characters of ASCII without spaces
   */
  identityToken(audience: string): Promise<string>
  /**
   * Adds a line to the log of the transfer, for people. Secrets are removed from it; do not include values of records. Without
   * a transfer it does nothing. A transfer keeps at most 200 lines of its connectors.
   * @param text of at most 500 characters; longer ones are cut
   */
  log(text: string): void
  /** Keeps sessions with servers open for the next part of the transfer. Absent: each session ends with its use. */
  readonly sessions?: KeptSessions
}

/** Sessions that are open and not used, in the process of a job. They are closed a few seconds after the last job. */
export type KeptSessions = {
  /** A session that was kept under this key. It is not kept any more. */
  take(key: string): unknown
  /** @returns whether the session is kept; otherwise the caller closes it */
  keep(key: string, kept: { readonly session: { close(): Promise<void> } }): boolean
}

/** The only access to the network. */
export type Egress = {
  /**
   * `fetch`, with addresses checked after DNS resolution and at every redirect. Resolves with any status. The body streams: read
   * it to its end or cancel it. A redirect to another origin does not carry headers that could contain a secret. Throws a
   * `ConnectorError`: `address_not_allowed`, `unreachable` if there is no answer, `connection_lost`, `timeout` or
   * `malformed_response` if the response was interrupted, took longer than `timeoutMs` or is not HTTP, and `response_too_large`
   * if it exceeds the limits of the egress. Throws the signal's reason as soon as the signal is aborted.
   */
  request(url: string | URL, init?: EgressRequest): Promise<Response>
  /**
   * Connects to a host and port, for protocols other than HTTP. The address is checked like the addresses of `request`. The
   * connection can lead through a bastion or a proxy, so a connector never opens sockets itself.
   * @param host a name or an IP address, which TLS over the stream then verifies
   * @returns the connected stream; the caller destroys it
   * @throws a `ConnectorError`: `address_not_allowed`, `host_not_found` if the name is unknown, `unreachable` after `timeoutMs`,
   *   and the problems of a bastion or proxy; the error of the socket, with its `code`, if the connection fails; the
   *   reason of the signal
   */
  connect(host: string, port: number, options?: ConnectOptions): Promise<TcpStream>
}

export type ConnectOptions = {
  readonly signal?: AbortSignal | undefined
  /** Until the host answers. Default: 15,000. */
  readonly timeoutMs?: number
}

/** A connection that is open: a socket, or a stream through another machine that has the same methods. */
export type TcpStream = Duplex & {
  setNoDelay(on?: boolean): unknown
  setKeepAlive(on?: boolean, delayMs?: number): unknown
  ref(): unknown
  unref(): unknown
}

export type EgressRequest = {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array | ReadableStream<Uint8Array>
  signal?: AbortSignal
  /** Until the answer's headers arrive, and then between two chunks of its body. Default: 60,000. */
  timeoutMs?: number
  /**
   * The answer is a file that is read piece by piece. It can be large and slow, but must arrive at 1 KiB a second on average. Any
   * other answer is read as a whole, and must arrive within a minute or at 64 KiB a second (`egressBounds`). Only the time in
   * which the reader waits for the server counts.
   */
  streams?: boolean
  /** Redirects that are followed. Default: 0; a redirect is then an answer like any other. */
  redirectsMax?: number
}
