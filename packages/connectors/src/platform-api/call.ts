import { type ConnectorContext, readWhole } from '@penstock/connector'
import { parseJson } from './json.ts'

/** One request to a platform's HTTP API. */
export type Call = {
  readonly url: string
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a text is sent as it is, for who has signed it or sends a form. */
  readonly body?: unknown
}

/** What came back, whatever its status. */
export type Answer = {
  readonly status: number
  readonly headers: Headers
  /** What the body says; `undefined` where it is no JSON, such as a gateway's page. */
  readonly json: unknown
  /** Size of the body that was sent, in bytes. */
  readonly bytesSent: number
}

/** Platforms take their time with thousands of rows. */
const timeoutMs = 120_000

/** Asks and reads the whole answer. Throws the errors of the egress, and `response_too_large` where the answer is too large. */
export async function call({ egress, signal }: ConnectorContext, asked: Call): Promise<Answer> {
  const { url, method = 'GET', headers = {}, body } = asked
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const bytesSent = text === undefined ? 0 : Buffer.byteLength(text)
  const response = await egress.request(url, {
    method,
    headers: {
      accept: 'application/json',
      // The length is said, since with DELETE nobody expects a body.
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(bytesSent) }),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
    signal,
    timeoutMs,
  })
  const json = parseJson((await readWhole(response, new URL(url).host)).toString('utf8'))
  return { status: response.status, headers: response.headers, json, bytesSent }
}

/** The first step of a check: whether anything answers there, be it that it refuses. */
export async function assertConnectivity({ egress, signal }: ConnectorContext, origin: string): Promise<string> {
  const response = await egress.request(origin, { signal })
  await response.body?.cancel()
  return `${new URL(origin).host} answers.`
}
