import http from 'node:http'

/** A request as a judge sees it. */
export type Judged = {
  readonly method: string
  /** Path and query as they came, still encoded. */
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}
export type Answer = { status: number; headers?: Record<string, string>; body?: string }

/** A failure of a request: a response instead of the server's, no response, or the end of the connection. */
export type Failure = Answer | 'hangs' | 'resets' | 'loses the answer' | { readonly breaksAfterBytes: number }

export type FailingProxy = {
  readonly url: string
  /** Of each request that came: `GET /bucket/key`. */
  readonly seen: string[]
  /** Which requests fail; by default all. */
  failure: { readonly what: Failure; readonly of?: (asked: Judged) => boolean; times?: number } | undefined
  /** Changes the URL of the request to the server; by default unchanged. */
  rewrite: (url: string) => string
  /** Resolves once a request hangs. */
  hangs(): Promise<void>
  close(): Promise<void>
}

/**
 * A proxy before a real server that enforces additional strict rules and fails when a test asks for it. It passes
 * requests on unchanged, `host` included, so that signatures stay valid.
 * @param judge responds to a request that breaks the rules, as the platform would
 */
export async function startFailingProxy(
  target: string,
  judge: (asked: Judged) => Answer | undefined = () => undefined,
): Promise<FailingProxy> {
  const { hostname, port } = new URL(target)
  const agent = new http.Agent({ keepAlive: true })
  let hung = () => {}
  let hanging = new Promise<void>((resolve) => {
    hung = resolve
  })

  const server = http.createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const { method = 'GET', url = '/', headers } = request
    const asked: Judged = { method, url, headers, body: Buffer.concat(pieces) }
    proxy.seen.push(`${method} ${url}`)
    const failure = failureOf(proxy, asked)
    if (failure === 'hangs') return hung()
    if (failure === 'resets') return request.socket.resetAndDestroy()
    const answer = typeof failure === 'object' && 'status' in failure ? failure : judge(asked)
    if (answer) return response.writeHead(answer.status, answer.headers).end(answer.body)
    const forward = http.request({ hostname, port, agent, method, path: proxy.rewrite(url), headers }, (answered) => {
      if (failure === 'loses the answer') {
        answered.resume().on('end', () => request.socket.destroy())
        return
      }
      response.writeHead(answered.statusCode ?? 500, answered.rawHeaders)
      if (typeof failure !== 'object' || !('breaksAfterBytes' in failure)) return answered.pipe(response)
      let left = failure.breaksAfterBytes
      answered.on('data', (bytes: Buffer) => {
        if (left <= 0) return
        response.write(bytes.subarray(0, left), () => left <= 0 && request.socket.destroy())
        left -= bytes.length
      })
    })
    forward.on('error', () => request.socket.destroy())
    forward.end(asked.body)
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const proxy: FailingProxy = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    seen: [],
    failure: undefined,
    rewrite: (url) => url,
    async hangs() {
      await hanging
      hanging = new Promise((resolve) => {
        hung = resolve
      })
    },
    async close() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}

function failureOf(proxy: FailingProxy, asked: Judged): Failure | undefined {
  const { failure } = proxy
  if (!failure || failure.of?.(asked) === false) return undefined
  if (failure.times !== undefined && --failure.times <= 0) proxy.failure = undefined
  return failure.what
}
