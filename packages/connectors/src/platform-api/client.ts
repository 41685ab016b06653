import { setTimeout as delay } from 'node:timers/promises'
import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { type Answer, type Call, call, isSuccess } from './call.ts'
import { isObject, type JsonObject } from './json.ts'
import { connectorErrorOfStatus } from './status.ts'

/** A platform's HTTP API, as its connectors describe it. */
export type Platform = {
  /** For messages: `LinkedIn`. */
  readonly name: string
  /** The base of relative paths, without a trailing slash: `https://api.linkedin.com/rest`. */
  readonly baseUrl: string
  /** Sent with every request: a version, a kind of content. */
  readonly headers?: Readonly<Record<string, string>>
  /** Authenticates requests. Absent if they carry no credentials. */
  readonly credentials?: Credentials
  /**
   * The error of a response, if the platform's own codes are more specific than the status. Called for every response,
   * because platforms also report failures with the status 200. `undefined` leaves the response to the status. `null`
   * passes the response to the caller like any other. The client passes on errors that this function throws.
   */
  readonly errorOf?: (answer: Answer) => ConnectorError | null | undefined
}

/** How requests are signed in. */
export type Credentials = {
  /**
   * The headers that sign a request in.
   * @param refused what the platform did not accept: others are wanted
   */
  headers(refused?: SignInHeaders): Promise<SignInHeaders>
  /** Whether new headers can be obtained. Otherwise a refusal is final. */
  readonly renews: boolean
  /** Set if they are parameters of the address and not headers. */
  readonly in?: 'query'
  /** Query parameters of every request, in addition to the headers. */
  readonly query?: Readonly<Record<string, string>>
  /** More headers of one request, if each is signed on its own. @param url with its query */
  readonly sign?: (method: string, url: string) => SignInHeaders
}

export type SignInHeaders = Readonly<Record<string, string>>

export type PlatformCall = Omit<Call, 'url'> & {
  /** Relative to the platform's base URL. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>>
  /**
   * Whether the request is idempotent: it reads or sets, so repeating it makes no difference. It is repeated after a transient
   * error. By default only GET and PUT are.
   */
  readonly repeatable?: boolean
  /** Answers for the caller to deal with, although they are not success. */
  readonly expects?: (answer: Answer) => boolean
  /** The error of a response to this request. `undefined` leaves the decision to the platform's `errorOf`. */
  readonly errorOf?: (answer: Answer) => ConnectorError | undefined
}

/** A platform's API within one job, signed in. Everything throws connector errors. */
export type PlatformClient = {
  /** Asks, and resolves with an answer that is a success or is expected. */
  ask(asked: PlatformCall): Promise<Answer>
  /** The same for answers that must be a JSON object. Throws `malformed_response` if an answer is not. */
  askObject(asked: PlatformCall): Promise<Answer & { readonly json: JsonObject }>
}

/** How often a request is repeated after transient errors, before the engine is left to repeat the whole batch. */
const repeatsMax = 2
const firstWaitMs = 250
/** Longer waits are the engine's: it shows them to people, and can be stopped in them. */
const waitMsMax = 10_000

/**
 * Opens a platform's API: signs in, repeats what can be repeated, and makes connector errors of what the platform refuses.
 * An error names the platform's identifier of the request, by which its support finds it.
 */
export function openPlatform(context: ConnectorContext, platform: Platform): PlatformClient {
  const { name, baseUrl, headers, credentials, errorOf } = platform

  async function once(asked: PlatformCall, signIn: SignInHeaders): Promise<Answer> {
    const { path, query, repeatable: _, expects, errorOf: own, ...rest } = asked
    const isInQuery = credentials?.in === 'query'
    const url = urlOf(baseUrl + path, { ...query, ...credentials?.query, ...(isInQuery && signIn) })
    const signature = credentials?.sign?.(rest.method ?? 'GET', url)
    const answer = await call(context, {
      ...rest,
      url,
      headers: { ...headers, ...(isInQuery ? {} : signIn), ...signature, ...rest.headers },
    })
    if (expects?.(answer)) return answer
    const meaning = own?.(answer) ?? errorOf?.(answer)
    if (meaning === null || (meaning === undefined && isSuccess(answer))) return answer
    throw withRequestId(meaning ?? connectorErrorOfStatus(name, answer), answer)
  }

  async function signedIn(asked: PlatformCall): Promise<Answer> {
    const signIn = (await credentials?.headers()) ?? {}
    try {
      return await once(asked, signIn)
    } catch (error) {
      // A token can expire early. A request that was not accepted has changed nothing.
      if (!credentials?.renews || asConnectorError(error)?.action !== 'reauthenticate') throw error
      return await once(asked, await credentials.headers(signIn))
    }
  }

  async function ask(asked: PlatformCall): Promise<Answer> {
    const { method = 'GET', repeatable = method === 'GET' || method === 'PUT' } = asked
    for (let repeats = 0; ; repeats++) {
      try {
        return await signedIn(asked)
      } catch (error) {
        const waitMs = repeatable && repeats < repeatsMax ? waitBefore(error, repeats) : undefined
        if (waitMs === undefined) throw error
        await wait(waitMs, context.signal)
      }
    }
  }

  return {
    ask,
    async askObject(asked) {
      const answer = await ask(asked)
      const { json } = answer
      if (isObject(json)) return { ...answer, json }
      throw withRequestId(
        new ConnectorError('malformed_response', `${name} did not answer with the expected JSON.`),
        answer,
      )
    },
  }
}

/** Waits, and throws the signal's reason once that is aborted. */
export const wait = (waitMs: number, signal: AbortSignal): Promise<void> =>
  delay(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted())

/** How long to wait before a retry after an error. `undefined` if the request must not be retried. */
function waitBefore(error: unknown, repeats: number): number | undefined {
  const connectorError = asConnectorError(error)
  if (connectorError?.action !== 'retry') return undefined
  // Workers that were refused at the same time retry at different times.
  const waitMs = connectorError.afterMs ?? firstWaitMs * 2 ** repeats * (1 + Math.random())
  return waitMs <= waitMsMax ? waitMs : undefined
}

/** The address with the query behind it, or behind the query that it has already. */
function urlOf(address: string, query: PlatformCall['query'] = {}): string {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as [string, string]])),
  ).toString()
  return search === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${search}`
}

/** Headers in which platforms return the identifier that their support asks for. */
const requestIdHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-fb-trace-id',
  'x-li-uuid',
  'x-amzn-requestid',
  'x-amz-request-id',
  'x-ms-request-id',
  'x-tt-logid',
  'x-transaction-id',
  'x-snap-request-id',
  'x-hubspot-correlation-id',
]

/** The error with the platform's identifier of the request in its message, if the response has one. */
function withRequestId(error: ConnectorError, { headers }: Answer): ConnectorError {
  const id = requestIdHeaders
    .map((name) => headers.get(name) ?? '')
    // A value that does not look like an identifier could be anything.
    .find((value) => /^[\w.:+/=-]{6,100}$/.test(value))
  return id === undefined ? error : error.with({ message: `${error.message} Request ID of the platform: ${id}.` })
}
