import { basePath, type FileBody, type Operation, type Refused } from '@penstock/wire'
import { delay } from './abort.ts'
import { NoAnswerError, PenstockError } from './errors.ts'

/** From the parameters of a method to a request, and from bytes to an answer or an error. */

/** `fetch`, or a replacement for it. */
export type Fetch = (address: string, init: RequestInit) => Promise<Response>

export type TransportOptions = {
  baseUrl: string
  fetch: Fetch
  timeoutMs: number
  retriesMax: number
  retryWaitMaxSeconds: number
}

/** Any method's parameters, seen from the inside. */
export type AnyParameters = Readonly<Record<string, unknown>> & {
  readonly accountId?: string | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  readonly ifMatch?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** The media type in which the whole answer is streamed, instead of JSON. */
  readonly stream?: string | undefined
}

/** A success: its status, its headers and its JSON body, or the stream of the body. */
export type Answer = { status: number; headers: Headers; json: unknown; body?: ReadableStream<Uint8Array> }

/** Sends a call. Retries it if that is safe and the service asks for it with Retry-After. */
export type Transport = (operation: Operation, parameters: AnyParameters, token?: string) => Promise<Answer>

export function createTransport({
  baseUrl,
  fetch,
  timeoutMs,
  retriesMax,
  retryWaitMaxSeconds,
}: TransportOptions): Transport {
  const base = baseUrl.replace(/\/+$/, '') + basePath

  /** @param withinMs undefined: no limit, because a file can take any time to send */
  const exchange = async (
    address: string,
    init: RequestInit,
    { signal, stream }: AnyParameters,
    withinMs: number | undefined,
  ): Promise<Answer> => {
    const timeout = new AbortController()
    const timer = withinMs === undefined ? undefined : setTimeout(() => timeout.abort(), withinMs)
    let response: Response
    let text: string
    try {
      const either = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal
      response = await fetch(address, { ...init, signal: either })
      // The time limit applies only until the stream begins. The stream itself can take any time.
      if (stream !== undefined && response.ok && response.body) return streamOf(base, response, stream)
      text = await response.text()
    } catch (cause) {
      if (cause instanceof NoAnswerError) throw cause
      signal?.throwIfAborted()
      const what = timeout.signal.aborted ? `did not answer within ${timeoutMs} ms` : 'cannot be reached'
      throw new NoAnswerError(`${base} ${what}: check the network and baseUrl, then try again.`, { cause })
    } finally {
      clearTimeout(timer)
    }
    return readAnswer(base, response, text)
  }

  return async (operation, parameters, token) => {
    const { signal } = parameters
    const address = base + targetOf(operation, parameters)
    const init = initOf(operation, parameters, token)
    const repeatable =
      operation.method === 'GET' ||
      operation.reads ||
      operation.actsIn === 'public' ||
      parameters.idempotencyKey !== undefined
    for (let retries = 0; ; retries++) {
      try {
        return await exchange(address, init, parameters, operation.file ? undefined : timeoutMs)
      } catch (error) {
        const seconds = repeatable && retries < retriesMax ? waitAskedFor(error) : undefined
        if (seconds === undefined || seconds > retryWaitMaxSeconds) throw error
        await delay(seconds, signal)
      }
    }
  }
}

/** Path and query of a call. */
function targetOf(operation: Operation, parameters: AnyParameters): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(parameters[name] ?? '')
    // Such a segment would vanish from the address, so the request would reach another operation.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} must be an identifier, not "${value}".`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...parameters.query, accountId: parameters.accountId })) {
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size > 0 ? `${path}?${query}` : path
}

function initOf(operation: Operation, parameters: AnyParameters, token: string | undefined): RequestInit {
  const { body, ifMatch, idempotencyKey, stream = 'application/json' } = parameters
  const headers: Record<string, string> = { accept: stream }
  if (token !== undefined) headers.authorization = `Bearer ${token}`
  if (operation.body) headers['content-type'] = 'application/json'
  if (operation.file) headers['content-type'] = 'application/octet-stream'
  if (ifMatch !== undefined) headers['if-match'] = ifMatch
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  return {
    method: operation.method,
    headers,
    // Only the token proves who calls, and it must be sent only to this address.
    credentials: 'omit',
    redirect: 'error',
    ...(operation.body ? { body: JSON.stringify(body) } : {}),
    ...(operation.file ? { body: body as FileBody } : {}),
  }
}

/** The body of an answer that is streamed. Throws NoAnswerError for another media type. */
function streamOf(base: string, { status, headers, body }: Response, type: string): Answer {
  if (body && headers.get('content-type')?.split(';')[0] === type) return { status, headers, json: undefined, body }
  throw new NoAnswerError(notPenstock(base, status), { status })
}

/** Reads an answer. Throws PenstockError for a refusal, NoAnswerError for an answer that did not come from Penstock. */
function readAnswer(base: string, { status, headers, ok }: Response, text: string): Answer {
  const retryAfterSeconds = readRetryAfter(headers.get('retry-after'))
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new NoAnswerError(notPenstock(base, status), { status, retryAfterSeconds, cause })
  }
  if (ok && typeof json === 'object' && json !== null) return { status, headers, json }
  const { statusMessage, response } = (json ?? {}) as { statusMessage?: unknown; response?: Partial<Refused> | null }
  if (typeof response?.error !== 'string' || !Array.isArray(response.details)) {
    throw new NoAnswerError(notPenstock(base, status), { status, retryAfterSeconds })
  }
  throw new PenstockError(status, String(statusMessage), response as Refused, retryAfterSeconds)
}

const notPenstock = (base: string, status: number) =>
  `What answered at ${base} with status ${status} is not Penstock: check baseUrl and the proxies in between.`

/** Seconds that a refusal asks to wait; undefined if it does not ask, or if waiting cannot help. */
function waitAskedFor(error: unknown): number | undefined {
  const refusal = error instanceof PenstockError || error instanceof NoAnswerError ? error : undefined
  return refusal?.status === 429 || refusal?.status === 503 ? refusal.retryAfterSeconds : undefined
}

/** A Retry-After header: seconds, or a time (RFC 9110, section 10.2.3). */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header)
  const ms = Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms / 1000))
}
