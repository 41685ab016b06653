import { type ConnectorContext, Outcome } from '@penstock/connector'
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

/** An answer of a platform is a few kilobytes; beyond this, something else has answered. */
const answerBytesMax = 16 * 1024 * 1024
/** Platforms take their time with thousands of rows. */
const timeoutMs = 120_000

/** Asks and reads the whole answer. Throws the outcomes of the egress, and `retry` where the answer is endless. */
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
  const json = parseJson(await readText(response, new URL(url).host))
  return { status: response.status, headers: response.headers, json, bytesSent }
}

async function readText(response: Response, host: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop lets go of what is still to come.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > answerBytesMax) throw new Outcome('retry', 'endless_answer', `${host} answered without an end.`)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The first step of a check: whether anything answers there, be it that it refuses. */
export async function assertReachable({ egress, signal }: ConnectorContext, origin: string): Promise<string> {
  const response = await egress.request(origin, { signal })
  await response.body?.cancel()
  return `${new URL(origin).host} answers.`
}
