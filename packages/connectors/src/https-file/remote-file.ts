import { createHash } from 'node:crypto'
import { type ConnectorContext, ConnectorError, retryAfterMs } from '@penstock/connector'
import type { FileStore, StoredFile } from '@penstock/connector/files'
import { nameOf, type RemoteAddress } from './address.ts'
import { blockStart, type ContentBlocks, readBlocks, sameBlocks } from './content-blocks.ts'

export const redirectsMax = 5

/** The properties of a file that a server reports before the file is read. */
type Description = {
  readonly name: string
  /** A value that changes with the content, if the server sends one: an ETag, otherwise a time. */
  readonly mark: string | undefined
  /** `undefined` if the server does not report it. */
  readonly sizeBytes: number | undefined
  /** Whether it answers requests for a range of bytes with that range. */
  readonly ranges: boolean
}

/** A store that holds one file, which is where an address leads. */
export type RemoteFile = FileStore & {
  /** The name and size that the server reports. Does not read the file. */
  describe(): Promise<{ readonly name: string; readonly sizeBytes: number | undefined }>
}

/**
 * Opens the file of an address. If the server returns neither an ETag nor a time, the file is read once when it is listed, to
 * identify its content by digests: parts of two versions must not become one file.
 */
export function openRemoteFile(
  context: Pick<ConnectorContext, 'egress' | 'signal'>,
  address: RemoteAddress,
): RemoteFile {
  const { host } = address.url
  let known: Description | undefined
  let content: ContentBlocks | undefined

  async function request(range?: string): Promise<Response> {
    const response = await context.egress.request(address.url, {
      signal: context.signal,
      redirectsMax,
      streams: true,
      // Offsets count the bytes of the file, which compression on the way would change.
      headers: { ...address.headers, 'accept-encoding': 'identity', ...(range ? { range } : {}) },
    })
    if (response.ok || (range && response.status === 416)) {
      if (!isPage(response, address.url)) return response
      await response.body?.cancel()
      const message = `${host} answers with a web page, such as a sign-in page, instead of the file; check the URL and the credentials.`
      throw new ConnectorError('invalid_address', message)
    }
    const connectorError = connectorErrorOf(response, host)
    await response.body?.cancel()
    throw connectorError
  }

  async function describe(): Promise<Description> {
    // A request for the first byte returns more than HEAD does, and works for addresses that are signed only for GET.
    const response = await request('bytes=0-0')
    await response.body?.cancel()
    return descriptionOf(response, address)
  }

  async function* bytesFrom(file: StoredFile, fromByte: number): AsyncGenerator<Uint8Array> {
    known ??= await describe()
    // If the content is identified by digests, whole blocks are read.
    const start = content ? blockStart(fromByte) : fromByte
    const partial = known.ranges && start > 0
    const response = await request(partial ? `bytes=${start}-` : undefined)
    const { name } = file
    try {
      const { mark, sizeBytes = file.sizeBytes } = descriptionOf(response, address)
      if (response.status === 416 || mark !== known.mark || sizeBytes !== file.sizeBytes) throw changed(name)
      if (partial && response.status === 206 && rangeOf(response).first !== start) {
        throw new ConnectorError('unexpected_response', `${host} answers with other bytes of ${name} than requested.`)
      }
      // Without ranges, a server sends the file from its beginning every time.
      let at = response.status === 206 ? start : 0
      let skip = fromByte - at
      const body = response.body ?? emptyBody()
      for await (const chunk of content ? sameBlocks(body, content, at, () => changed(name)) : body) {
        at += chunk.length
        if (skip >= chunk.length) skip -= chunk.length
        else {
          yield skip > 0 ? chunk.subarray(skip) : chunk
          skip = 0
        }
      }
      if (at !== file.sizeBytes) throw changed(name)
    } finally {
      if (response.body && !response.body.locked) await response.body.cancel().catch(() => {})
    }
  }

  return {
    async list() {
      known = await describe()
      const { name, mark, sizeBytes } = known
      if (mark !== undefined) {
        const size = sizeBytes ?? (await readContent()).sizeBytes
        return [{ name, version: `${digestOfMark(mark)} ${size}`, sizeBytes: size }]
      }
      content = await readContent()
      return [{ name, version: content.version, sizeBytes: content.sizeBytes }]
    },
    read: bytesFrom,
    describe,
  }

  async function readContent(): Promise<ContentBlocks> {
    return readBlocks((await request()).body ?? emptyBody())
  }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** A mark can be as long as a header, and could repeat a secret that the server was sent. */
const digestOfMark = (mark: string): string => createHash('sha256').update(mark).digest('hex').slice(0, 32)

/** Describes a file from the headers of a response. Without any mark of its version, the version is empty. */
function descriptionOf(response: Response, { url, redact }: RemoteAddress): Description {
  const { headers, status } = response
  const coded = (headers.get('content-encoding') ?? 'identity') !== 'identity'
  const length = headers.get('content-length')
  const whole = status === 200 && length !== null ? Number(length) : undefined
  // A response that is compressed despite the request has other offsets than its ranges.
  const sizeBytes = coded ? undefined : status === 200 ? whole : rangeOf(response).size
  return {
    name: redact(fileNameOf(headers) ?? '', nameLengthMax) || nameOf(url),
    mark: headers.get('etag') ?? headers.get('last-modified') ?? undefined,
    sizeBytes,
    ranges: status === 206 && !coded,
  }
}

function rangeOf({ headers }: Response): { first: number | undefined; size: number | undefined } {
  const [, first, size] = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? []
  const number = (digits: string | undefined) => (digits === undefined || digits === '*' ? undefined : Number(digits))
  return { first: number(first), size: number(size) }
}

/** Longer names are cut: messages and checkpoints contain them. */
const nameLengthMax = 200

/** The name that a server gives a download. Its extension determines the format if the address does not. */
function fileNameOf(headers: Headers): string | undefined {
  const [, quoted, plain] =
    /;\s*filename=(?:"([^"]+)"|([^;"\s]+))/i.exec(headers.get('content-disposition') ?? '') ?? []
  return (quoted ?? plain)?.replace(/^.*[/\\]/s, '') || undefined
}

const isPage = ({ headers }: Response, { pathname }: URL): boolean =>
  /^text\/html\b/i.test(headers.get('content-type') ?? '') && !/\.(csv|tsv|txt|ndjson|jsonl)$/i.test(pathname)

/** The error for a response without a file. */
export function connectorErrorOf(response: Response, host: string): ConnectorError {
  const { status } = response
  if (status === 401 || status === 403) {
    return new ConnectorError('invalid_credentials', `${host} answered ${status}: check the credentials.`)
  }
  if (status === 404 || status === 410) {
    return new ConnectorError('object_not_found', `${host} answered ${status}: the file does not exist.`)
  }
  if (status >= 500 || status === 408 || status === 425 || status === 429) {
    const message = `${host} answered ${status}: it cannot return the file right now.`
    const code = status === 429 ? 'rate_limited' : 'platform_error'
    return new ConnectorError(code, message, { afterMs: retryAfterMs(response) })
  }
  return new ConnectorError(
    'invalid_address',
    `${host} answered ${status}: it does not return the file; check the URL.`,
  )
}

const changed = (name: string): ConnectorError =>
  new ConnectorError('source_changed', `${name} changed while it was being read; start the transfer again.`)
