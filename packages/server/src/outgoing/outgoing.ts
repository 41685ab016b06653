import { ConnectorError, type ConnectorErrorCode, isPlainHttpAllowed } from '@penstock/connector'
import type { OpenEgress } from '@penstock/connector/egress'
import type { Config } from '../config.ts'
import { egressOptions } from '../egress-settings.ts'

/**
 * Requests to addresses that tenants choose, such as webhooks: under the network policy of the operator, which is checked
 * where the socket connects, without redirects, and bounded in time and size whatever the receiver does.
 *
 *   const outgoing = createOutgoing(config)
 *   const answer = await outgoing.post(url, { body: JSON.stringify(message), contentType: 'application/json' })
 *   if (!isSuccess(answer)) …
 *
 * One is enough for a process: it keeps connections open for the next request. Close it at the end.
 */
export type Outgoing = {
  /**
   * Posts a body. Any status is an answer, a redirect as well, which is not followed.
   * Throws `OutgoingError` if there is no answer, and the reason of the signal.
   */
  post(url: string, request: OutgoingRequest): Promise<OutgoingAnswer>
  close(): Promise<void>
}

export type OutgoingRequest = {
  /** At most `bodyBytesMax`. */
  readonly body: string
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  /** From the request to the end of the answer. 15 seconds by default. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export type OutgoingAnswer = {
  readonly status: number
  /** The first headers, cut. */
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body. The rest is not read. */
  readonly body: string
  /** Pause in milliseconds from `Retry-After`. Null if the header is missing or invalid. */
  readonly retryAfterMs: number | null
}

/** Why there is no answer: `timeout`, `host_not_found`, `address_not_allowed` … The message names only the host. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError'
  readonly code: ConnectorErrorCode
  constructor(code: ConnectorErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

export const isSuccess = ({ status }: Pick<OutgoingAnswer, 'status'>): boolean => status >= 200 && status < 300

const timeoutMsDefault = 15_000
const bodyBytesMax = 256 << 10
/** Data of an answer, for the sender's log. */
const answerBytesMax = 4 << 10
const answerHeadersMax = 30
const headerLengthMax = 300
const headerBytesMax = 16 << 10

/** @param config the operator's settings; `routes`: for tests, as in `EgressOptions` */
export function createOutgoing(
  { egress: settings, plainHttp }: Pick<Config, 'egress' | 'plainHttp'>,
  routes: Readonly<Record<string, string>> = {},
): Outgoing {
  let opened: Promise<OpenEgress> | undefined
  // Loaded at the first request, so that a process without requests does not load it.
  const open = async () => {
    const { createEgress } = await import('@penstock/connector/egress')
    return createEgress({ ...egressOptions(settings), routes, bounds: { headerBytes: headerBytesMax } })
  }
  return {
    async post(address, { body, contentType, headers = {}, timeoutMs = timeoutMsDefault, signal }) {
      const url = parseOutgoingUrl(address, plainHttp)
      if (Buffer.byteLength(body) > bodyBytesMax) throw new Error(`A body may have ${bodyBytesMax} bytes`)
      opened ??= open()
      const egress = await opened
      signal?.throwIfAborted()
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(tooSlow(url.host, timeoutMs)), timeoutMs)
      const stop = () => late.abort(signal?.reason)
      signal?.addEventListener('abort', stop, { once: true })
      try {
        const response = await egress.request(url, {
          method: 'POST',
          body,
          signal: late.signal,
          timeoutMs,
          headers: { ...headers, 'content-type': contentType },
        })
        const { status } = response
        const retryAfterMs = readRetryAfter(response.headers)
        return { status, headers: headersOf(response), body: await readBeginning(response), retryAfterMs }
      } catch (error) {
        if (error instanceof ConnectorError) throw new OutgoingError(error.code, error.message)
        throw error
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', stop)
      }
    },
    close: async () => {
      await (await opened)?.close()
    },
  }
}

/**
 * Parses an address of a tenant: https, or http if the operator allows it, without user name and password. Throws
 * `OutgoingError`. Use it to refuse the address when it is saved. The resolved address is checked at each request.
 */
export function parseOutgoingUrl(address: string, plainHttp: Config['plainHttp']): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
    const message = 'must be an address that begins with https://, without user name, password or fragment'
    throw new OutgoingError('invalid_address', message)
  }
  if (url.protocol === 'http:' && !isPlainHttpAllowed(url, plainHttp)) {
    const message = 'must begin with https://; an operator can name a host in PENSTOCK_ALLOW_HTTP'
    throw new OutgoingError('insecure_address', message)
  }
  return url
}

/**
 * Reads the beginning of a response, without waiting for the rest. A response that breaks off is still treated as a response.
 */
async function readBeginning(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(piece)
      bytes += piece.length
      if (bytes >= answerBytesMax) break
    }
  } catch {
    // The status has come, and says all that counts.
  }
  return Buffer.concat(pieces).subarray(0, answerBytesMax).toString().replaceAll('\0', '')
}

const headersOf = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries(
    [...headers]
      .slice(0, answerHeadersMax)
      .map(([name, value]) => [name.slice(0, 100), value.slice(0, headerLengthMax)]),
  )

/** Seconds, or a date (RFC 9110) by the clock of the server that answers. */
function readRetryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after')
  if (value === null) return null
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const time = Date.parse(value)
  if (Number.isNaN(time)) return null
  const answered = Date.parse(headers.get('date') ?? '')
  return Math.max(0, time - (Number.isNaN(answered) ? Date.now() : answered))
}

const tooSlow = (host: string, timeoutMs: number): OutgoingError =>
  new OutgoingError('timeout', `${host} has not answered within ${timeoutMs / 1000} seconds.`)
