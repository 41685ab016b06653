import { type Operation, type OperationId, operations, type Token } from '@penstock/wire'
import { unlessAborted } from './abort.ts'
import { PenstockError } from './errors.ts'
import { createTokenHolder, type TokenSource } from './token.ts'
import { type Answer, type AnyParameters, createTransport, type Fetch, type Transport } from './transport.ts'
import type { Client, Links, ParametersOf, StreamedOperationId, StreamTypeOf } from './types.ts'

/** How the client proves who asks. */
export type Credentials =
  /** The client gets tokens, and renews them. */
  | { clientId: string; clientSecret: string; token?: never; getToken?: never }
  /** A token that was obtained elsewhere. After it expires, calls are refused with `unauthorized`. */
  | { token: string; getToken?: never; clientId?: never; clientSecret?: never }
  /**
   * Called before each request. `refused` is the token that the service has just refused. Return another token to retry, or the
   * same token to let the refusal pass to the caller.
   */
  | { getToken: (refused?: string) => string | Promise<string>; token?: never; clientId?: never; clientSecret?: never }

export type ClientOptions = Credentials & {
  /** Address of the service without `/es/v2`: `https://penstock.example.com`. Empty, in a browser: the origin of the page. */
  baseUrl: string
  /** Sends requests; defaults to the `fetch` of the runtime. */
  fetch?: Fetch
  /** Timeout of one request, in milliseconds; defaults to 60 000. */
  timeoutMs?: number
  /**
   * Maximum retries of a call that is answered with 429 or 503 and Retry-After; defaults to 2, 0 disables them. Only reads and
   * calls with an `idempotencyKey` are retried, because they are safe to repeat.
   */
  retriesMax?: number
  /** A call is not retried if Retry-After is longer than this, in seconds; defaults to 10. */
  retryWaitMaxSeconds?: number
}

/**
 * Creates a client of a Penstock service. Each operation of the contract is a method:
 *
 *     const client = createClient({ baseUrl, clientId, clientSecret })
 *     const { reply: account } = await client.addAccount({ body: { name: 'Acme Outdoor' } })
 *     const { reply, etag } = await client.getConnection({ accountId: account.id, id })
 *     await client.updateConnection({ accountId: account.id, id, body: { name: 'New name' }, ifMatch: etag })
 *
 * Methods reject with PenstockError if the service refuses, with NoAnswerError if it is unreachable, and with the signal's reason
 * if the caller aborts.
 */
export function createClient(options: ClientOptions): Client {
  const send = createTransport({
    baseUrl: options.baseUrl,
    fetch: options.fetch ?? ((address, init) => globalThis.fetch(address, init)),
    timeoutMs: options.timeoutMs ?? 60_000,
    retriesMax: options.retriesMax ?? 2,
    retryWaitMaxSeconds: options.retryWaitMaxSeconds ?? 10,
  })
  const source = tokenSourceOf(options, send)
  const method = (id: OperationId) => {
    const operation: Operation = operations[id]
    return async (parameters: AnyParameters = {}) => call(send, source, operation, parameters)
  }
  const ids = Object.keys(operations) as OperationId[]
  const client = Object.freeze(Object.fromEntries(ids.map((id) => [id, method(id)]))) as unknown as Client
  callers.set(client, (id, parameters) => authorized(send, source, operations[id], parameters))
  return client
}

function tokenSourceOf(options: Credentials, send: Transport): TokenSource {
  const { clientId, clientSecret, token, getToken } = options
  if (getToken) return async (refused) => getToken(refused)
  if (token !== undefined) return async () => token
  return createTokenHolder(async () => {
    const { json } = await send(operations.createToken, { body: { clientId, clientSecret } })
    return json as Token
  })
}

/** How each client sends a call with a streamed answer. */
const callers = new WeakMap<Client, (id: OperationId, parameters: AnyParameters) => Promise<Answer>>()

/**
 * Downloads a whole list as a stream, in a media type that the operation supports, such as rejected records as `text/csv`. Memory
 * use does not grow with the list. Rejects like the methods.
 *
 *     const csv = await download(client, 'listRejects', { accountId, id, transferId }, 'text/csv')
 *     for await (const bytes of csv) …
 */
export async function download<I extends StreamedOperationId>(
  client: Client,
  operation: I,
  parameters: ParametersOf<I>,
  type: StreamTypeOf<I>,
): Promise<ReadableStream<Uint8Array>> {
  const caller = callers.get(client)
  if (!caller) throw new TypeError('The client must be one that createClient made.')
  const { body } = await caller(operation, { ...parameters, stream: type })
  if (!body) throw new TypeError(`${operation} is not streamed as ${type}.`)
  return body
}

const call = async (send: Transport, source: TokenSource, operation: Operation, parameters: AnyParameters) =>
  resultOf(operation, await authorized(send, source, operation, parameters))

/** Sends a call with a token. If the token is refused, sends the call again with another token. */
async function authorized(
  send: Transport,
  source: TokenSource,
  operation: Operation,
  parameters: AnyParameters,
): Promise<Answer> {
  const { signal } = parameters
  signal?.throwIfAborted()
  if (operation.actsIn === 'public') return send(operation, parameters)
  const token = await unlessAborted(source(), signal)
  try {
    return await send(operation, parameters, token)
  } catch (error) {
    if (!(error instanceof PenstockError && error.status === 401)) throw error
    // Nothing was done, so the call can be sent again with another token, if there is one.
    const other = await unlessAborted(source(token), signal)
    if (other === token) throw error
    return send(operation, parameters, other)
  }
}

function resultOf(operation: Operation, { status, headers, json }: Answer) {
  const result = {
    reply: operation.bare ? json : (json as { response: unknown }).response,
    etag: headers.get('etag') ?? undefined,
    requestId: headers.get('x-request-id') ?? undefined,
    ...(headers.has('x-connection-states') && { states: Number(headers.get('x-connection-states')) }),
    ...(operation.already === undefined ? {} : { already: status !== operation.success }),
  }
  if (operation.list !== 'paged') return result
  return { ...result, total: Number(headers.get('x-total-count')), links: readLinks(headers.get('link') ?? '') }
}

/** Reads a Link header (RFC 8288) as the service writes it. */
function readLinks(header: string): Links {
  return Object.fromEntries([...header.matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, address, rel]) => [rel, address]))
}
