import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** A web server with files that behaves as a test says. */
export type FileServer = {
  readonly origin: string
  readonly files: Map<string, ServedFile>
  /** Every request that came: its path and the range that it asked for. */
  readonly requests: {
    readonly path: string
    readonly range: string | undefined
    readonly authorization: string | undefined
  }[]
  failure: FileFailure | undefined
  /** Resolves once a request has come that is not answered. */
  hanging(): Promise<unknown>
  close(): void
}

export type ServedFile = {
  readonly bytes: Uint8Array
  /** The value of `Authorization` without which the file is not given. */
  readonly authorization?: string
  readonly etag?: string
  readonly lastModified?: string
  /** Whether it answers requests for a range with that range. */
  readonly ranges?: boolean
  /** Keeps the length to itself, and sends the file in chunks. */
  readonly lengthless?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly redirectsTo?: string
}

export type FileFailure =
  | { readonly status: number; readonly headers?: Record<string, string> }
  | { readonly breaksAfterBytes: number }
  | { readonly hangs: true }

export async function startFileServer(): Promise<FileServer> {
  let reportHang: (value?: unknown) => void = () => {}
  const server = http.createServer((request, response) => {
    const path = request.url ?? ''
    const { range, authorization } = request.headers
    served.requests.push({ path, range, authorization })
    const { failure } = served
    if (failure && 'hangs' in failure) return reportHang()
    if (failure && 'status' in failure) return void response.writeHead(failure.status, failure.headers).end('<p>error')
    const file = served.files.get(path)
    if (!file) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<p>no such file')
    if (file.authorization !== undefined && file.authorization !== authorization) {
      return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('<p>who are you')
    }
    if (file.redirectsTo !== undefined) return void response.writeHead(302, { location: file.redirectsTo }).end()
    const headers: http.OutgoingHttpHeaders = {
      ...(file.etag ? { etag: file.etag } : {}),
      ...(file.lastModified ? { 'last-modified': file.lastModified } : {}),
      ...file.headers,
    }
    const { length } = file.bytes
    const [, first, last] = (file.ranges && /^bytes=(\d+)-(\d*)$/.exec(range ?? '')) || []
    if (first !== undefined && Number(first) >= length) {
      return void response.writeHead(416, { ...headers, 'content-range': `bytes */${length}` }).end()
    }
    const from = Number(first ?? 0)
    const to = last ? Math.min(Number(last) + 1, length) : length
    if (first !== undefined) headers['content-range'] = `bytes ${from}-${to - 1}/${length}`
    if (!file.lengthless) headers['content-length'] = to - from
    response.writeHead(first === undefined ? 200 : 206, headers)
    if (failure && to - from > failure.breaksAfterBytes) {
      const part = file.bytes.subarray(from, from + failure.breaksAfterBytes)
      return void response.write(part, () => response.destroy())
    }
    response.end(file.bytes.subarray(from, to))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const served: FileServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files: new Map(),
    requests: [],
    failure: undefined,
    hanging() {
      const hang = Promise.withResolvers()
      reportHang = hang.resolve
      return hang.promise
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return served
}
