import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Batch,
  type Connector,
  ConnectorError,
  type DestinationWriter,
  type ErrorAction,
  type Rejection,
  type Row,
} from '@penstock/connector'
import type { ServerError, TestContext, TestServerHang } from '@penstock/connector/acceptance'

/** A request as a platform sees it. */
export type Received = {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; `undefined` if it is none. */
  readonly json: unknown
}

export type Reply = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly text?: string
  /** A file, in place of a text. */
  readonly bytes?: Uint8Array
}

/**
 * A failure of one request: an answer in place of the platform's own, a connection cut before anything was done, one cut
 * after all was done, or no answer at all.
 */
export type Failure = Reply | 'reset' | 'reset after' | 'hang'

export type PlatformServer = {
  readonly url: string
  /** Every request so far, in order. */
  readonly received: readonly Received[]
  /** Makes the next request whose `METHOD /path` matches fail, once. */
  failure(match: RegExp, failure: Failure): void
  /** Removes the failures that no request has met yet. */
  calm(): void
  /** Resolves once a request that hangs has come in. */
  hanging(): Promise<void>
  close(): Promise<void>
}

/** Runs a platform on a free port. An error of `answer` is sent as a defect, and fails the test that closes it. */
export async function startPlatform(answer: (received: Received) => Reply | Promise<Reply>): Promise<PlatformServer> {
  const received: Received[] = []
  const failures: { match: RegExp; failure: Failure }[] = []
  const defects: unknown[] = []
  const hanging = Promise.withResolvers<void>()
  // On a busy machine, more than the usual 5 seconds pass between two requests.
  const server = createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
    try {
      const one = await read(request)
      received.push(one)
      const at = failures.findIndex(({ match }) => match.test(`${one.method} ${one.path}`))
      const failure = at < 0 ? undefined : failures.splice(at, 1)[0]?.failure
      if (failure === 'hang') return hanging.resolve()
      if (failure === 'reset') return request.socket.destroy()
      const reply = typeof failure === 'object' ? failure : await answer(one)
      if (failure === 'reset after') return request.socket.destroy()
      write(response, reply)
    } catch (error) {
      defects.push(error)
      request.socket.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    failure: (match, failure) => failures.push({ match, failure }),
    calm: () => failures.splice(0),
    hanging: () => hanging.promise,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      assert.deepEqual(defects, [])
    },
  }
}

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const url = new URL(request.url ?? '/', 'http://platform')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  const { method = 'GET', headers } = request
  return { method, path: url.pathname, query: url.searchParams, headers, text, json }
}

function write(response: ServerResponse, { status = 200, headers = {}, json, text, bytes }: Reply): void {
  const type = json === undefined ? 'text/html' : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers })
  response.end(bytes ?? (json === undefined ? (text ?? '') : JSON.stringify(json)))
}

/** A batch as the engine makes it. */
export const batchOf = (columns: readonly string[], rows: readonly Row[], number = 1): Batch => ({
  key: number.toString(16).padStart(32, '0'),
  columns,
  rows,
  firstRow: 1,
})

/** Delivers a batch as the engine does: refused as a whole it comes again in halves, down to single rows. */
export async function deliverHalving(
  writer: DestinationWriter,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const work = [rows]
  for (let batch = work.pop(); batch; batch = work.pop()) {
    try {
      await writer.deliver(batchOf(columns, batch))
    } catch (error) {
      if (!(error instanceof ConnectorError) || error.action !== 'split') throw error
      const middle = batch.length >> 1
      if (middle > 0) work.push(batch.slice(middle), batch.slice(0, middle))
    }
  }
}

/** Asserts that a preview rejects these rows of a batch, as a delivery did, without the platform. */
export async function assertPreviewed(
  { destination }: Connector,
  { settings, secrets }: Pick<TestContext, 'settings' | 'secrets'>,
  batch: Batch,
  rejected: readonly Rejection[] | undefined,
): Promise<void> {
  const find = await destination?.deliver?.rejectionsOf?.({ settings, secrets })
  assert.deepEqual(find?.(batch), rejected)
}

/** The connector error that rejected a promise. Fails if the promise was resolved, or rejected with another error. */
export async function connectorErrorOf(
  promise: Promise<unknown> | undefined,
  context: Pick<TestContext, 'secrets'>,
): Promise<ConnectorError> {
  const error = await Promise.resolve(promise).then(
    () => assert.fail('no connector error'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ConnectorError, String(error))
  assert.match(error.code, /^[a-z][a-z0-9_]*$/)
  for (const secret of Object.values(context.secrets)) {
    assert.ok(!`${error.message}${JSON.stringify(error)}`.includes(String(secret)), `a secret in: ${error.message}`)
  }
  return error
}

/** Asserts what a delivery ends with when the platform fails like this once, and that it succeeds the next time. */
export async function assertFailure(
  setting: { server: PlatformServer; context: TestContext; match: RegExp },
  writer: DestinationWriter,
  batch: Batch,
  failure: Failure,
  wanted: { action: ErrorAction; code: string; afterMs?: number },
): Promise<void> {
  setting.server.failure(setting.match, failure)
  const { action, code, afterMs } = await connectorErrorOf(writer.deliver(batch), setting.context)
  assert.deepEqual({ action, code, afterMs }, { afterMs: undefined, ...wanted }, JSON.stringify(failure))
}

/** A failure that the suite of all connectors gives a platform: the next request that matches meets it. */
export const problemOf = (
  server: PlatformServer,
  match: RegExp,
  failure: Failure,
  problem: Pick<ServerError, 'name' | 'action'> & Partial<ServerError>,
): ServerError => ({ start: () => server.failure(match, failure), stop: () => server.calm(), ...problem })

/** A platform that answers the next request that matches no more. */
export const hangOf = (server: PlatformServer, match: RegExp): TestServerHang => ({
  start: () => server.failure(match, 'hang'),
  reached: () => server.hanging(),
  stop: () => server.calm(),
})
