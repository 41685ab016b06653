import assert from 'node:assert/strict'
import http from 'node:http'
import { type FailingProxy, startFailingProxy } from './failing-proxy.ts'

/** A request that arrived behind the proxy. */
export type Arrived = { readonly request: http.IncomingMessage; readonly url: URL; readonly body: Buffer }
export type Sent = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

/**
 * Runs a server on a free port, behind a proxy that can make its requests fail.
 * @param refused the answer for an error that `answer` throws to refuse a request. Any other error is a defect of the server, is
 * answered with the status 599, and fails the test that closes it
 */
export async function startBehindProxy(
  answer: (arrived: Arrived) => Sent | Promise<Sent>,
  refused: (error: unknown) => Sent | undefined,
): Promise<{ readonly proxy: FailingProxy; close(): Promise<void> }> {
  const defects: unknown[] = []
  const listener = http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const url = new URL(request.url ?? '/', `https://${request.headers.host}`)
    const sent = await (async () => answer({ request, url, body }))().catch((error: unknown): Sent => {
      const refusal = refused(error)
      if (!refusal) defects.push(error)
      return refusal ?? { status: 599, body: 'defect' }
    })
    response.writeHead(sent.status, sent.headers).end(sent.body)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  const proxy = await startFailingProxy(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
  return {
    proxy,
    async close() {
      await proxy.close()
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
      assert.deepEqual(defects, [])
    },
  }
}
