import { once } from 'node:events'
import type { Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/** A request, as far as a rogue server reads it. */
export type RogueRequest = {
  readonly method: string
  /** Path and query as they came. */
  readonly url: string
  /** All of its head. */
  readonly head: string
  /** Counts the requests of the server, from 1. */
  readonly number: number
}

/** The reaction of a server once it has read the head of a request. The socket has a listener for errors. */
export type Behaviour = (socket: Socket, request: RogueRequest) => unknown

/** The head of an answer. */
const head = (status: string, ...headers: string[]): string =>
  `${[`HTTP/1.1 ${status}`, ...headers].join('\r\n')}\r\n\r\n`
const ok = (...headers: string[]): string => head('200 OK', ...headers)
const whole = (body: string | Buffer, ...headers: string[]): Buffer =>
  Buffer.concat([Buffer.from(ok(...headers, `content-length: ${Buffer.byteLength(body)}`)), Buffer.from(body)])
const xml = (body: string): Buffer => whole(body, 'content-type: application/xml')
const json = (body: string): Buffer => whole(body, 'content-type: application/json')

/** Sends these bytes and says nothing more. */
const says =
  (bytes: string | Buffer): Behaviour =>
  (socket) =>
    socket.write(bytes, 'latin1')
/** Sends these bytes and ends the connection. */
const ends =
  (bytes: string | Buffer): Behaviour =>
  (socket) =>
    socket.end(bytes, 'latin1')
/** Sends these bytes and resets the connection. */
const resets =
  (bytes: string | Buffer): Behaviour =>
  (socket) =>
    socket.write(bytes, 'latin1', () => socket.resetAndDestroy())
/** Sends these bytes, and then a piece again and again until the client is gone. */
const repeats =
  (bytes: string, piece: string | Buffer, pauseMs?: number): Behaviour =>
  async (socket) => {
    socket.write(bytes, 'latin1')
    while (!socket.destroyed) {
      const hasCapacity = socket.write(piece, 'latin1')
      if (!hasCapacity) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {})
      else
        await new Promise((resolve) => (pauseMs === undefined ? setImmediate(resolve) : setTimeout(resolve, pauseMs)))
    }
  }

const listingOf = (entries: string, token?: string): string =>
  `<?xml version="1.0"?><ListBucketResult><IsTruncated>${token !== undefined}</IsTruncated>${entries}<NextContinuationToken>${token ?? ''}</NextContinuationToken></ListBucketResult>`
const entryOf = (key: string, size: string): string =>
  `<Contents><Key>${key}</Key><ETag>&quot;e&quot;</ETag><Size>${size}</Size></Contents>`
const blobsOf = (entries: string, marker = ''): string =>
  `<?xml version="1.0"?><EnumerationResults><Blobs>${entries}</Blobs><NextMarker>${marker}</NextMarker></EnumerationResults>`
const blobOf = (name: string, size: string): string =>
  `<Blob><Name>${name}</Name><Properties><Etag>e</Etag><Content-Length>${size}</Content-Length></Properties></Blob>`
/** A listing in the format of the store that the client asks. */
const lists =
  (key: string, size: string, token: (request: RogueRequest) => string | undefined): Behaviour =>
  (socket, request) => {
    const next = token(request)
    if (request.url.includes('comp=list')) return socket.write(xml(blobsOf(blobOf(key, size), next)))
    if (!request.url.includes('/storage/v1/')) return socket.write(xml(listingOf(entryOf(key, size), next)))
    socket.write(json(JSON.stringify({ items: [{ name: key, size, generation: '1' }], nextPageToken: next })))
  }

const upgrade = head('101 Switching Protocols', 'upgrade: websocket', 'connection: Upgrade')
const chunked = ok('transfer-encoding: chunked')
const packed = ok('content-encoding: gzip', 'connection: close')
const bomb = gzipSync(Buffer.alloc(64 << 20), { level: 9 })

/** All values in a request that look like credentials. A message must never repeat them. */
const credentialsIn = ({ head: asked }: RogueRequest): string =>
  [...asked.matchAll(/^(?:authorization|x-amz-security-token|webhook-signature): (.*)$/gim)]
    .map(([, it]) => it)
    .join(' ')

export const behaviours: Readonly<Record<string, Behaviour>> = {
  'status missing': ends('\r\n\r\n'),
  'status of ssh': ends('SSH-2.0-OpenSSH_9.2\r\n'),
  'status of http09': ends('id,email\r\n1,a@example.com\r\n'),
  'status of http2': ends(Buffer.from('000012040000000000000300000064', 'hex')),
  'status of tls': ends(Buffer.from('15030300020228', 'hex')),
  'status 000': ends(head('000 None')),
  'status 099': ends(head('099 Low', 'content-length: 0')),
  'status 600': ends(head('600 High', 'content-length: 0')),
  'status 999': ends(head('999 High', 'content-length: 0')),
  'status negative': ends(head('-1 Minus')),
  'status huge': ends(head(`2${'0'.repeat(1000)} OK`)),
  'status long': ends(head(`200 ${'x'.repeat(1 << 20)}`)),
  'status control': ends(`${head('200 \x01\x02\x7f', 'content-length: 2')}ok`),
  'status version': ends('HTTP/9.9 200 OK\r\ncontent-length: 2\r\n\r\nok'),
  'status unended': says('HTTP/1.1 200'),
  'status endless': repeats('HTTP/1.1 200 ', 'x'.repeat(1024)),
  'switch upgrade': says(upgrade),
  'switch plain': says(head('101 Switching')),
  'switch talks': repeats(upgrade, '\x81\x05hello'),
  'switch success': ends(`${ok('upgrade: h2c', 'connection: Upgrade')}ok`),
  'interim continue': repeats('', head('100 Continue')),
  'interim hints': repeats('', head('103 Early Hints', 'link: </a>')),
  'interim stall': says(head('102 Processing')),
  'interim garbage': ends(`${head('100 Continue')}\x00\x00`),
  'header flood': repeats('HTTP/1.1 200 OK\r\n', 'a: b\r\n'.repeat(50)),
  'header value': repeats('HTTP/1.1 200 OK\r\na: ', 'b'.repeat(1024)),
  'header trickle': repeats('HTTP/1.1 200 OK\r\na: ', 'b', 20),
  'header unended': says('HTTP/1.1 200 OK\r\na: b\r\n'),
  'header null': ends(ok('a: \0b', 'content-length: 0')),
  'header colonless': ends(ok('nonsense', 'content-length: 0')),
  'header folded': ends(ok('a: b\r\n c', 'content-length: 0')),
  'header nameless': ends(ok(': b', 'content-length: 0')),
  'header latin': ends(`${ok('etag: "\xe9\xff"', 'content-length: 3')}a\n1`),
  'header cookies': ends(ok(...Array.from({ length: 900 }, (_, at) => `set-cookie: c${at}=v`), 'content-length: 0')),
  'length long': ends(`${ok('content-length: 1000')}id\n1\n`),
  'length short': ends(`${ok('content-length: 3')}id\n1\n2\n3\n`),
  'length negative': ends(`${ok('content-length: -5')}id\n1\n`),
  'length twice': ends(`${ok('content-length: 5', 'content-length: 6')}id\n1\n`),
  'length chunked': ends(`${ok('content-length: 5', 'transfer-encoding: chunked')}5\r\nid\n1\n\r\n0\r\n\r\n`),
  'length huge': ends(`${ok('content-length: 999999999999999999')}id\n1\n`),
  'length text': ends(`${ok('content-length: many')}id\n1\n`),
  'range wrong': ends(`${head('206 Partial', 'content-range: bytes 7-8/9', 'content-length: 2')}ab`),
  'range huge': ends(`${head('206 Partial', 'content-range: bytes 0-0/99999999999999999999', 'content-length: 1')}a`),
  'range garbage': ends(`${head('206 Partial', 'content-range: bytes all/some', 'content-length: 1')}a`),
  'chunk garbage': ends(`${chunked}zz\r\nid\n1\n\r\n`),
  'chunk cut': ends(`${chunked}40\r\nid\n1\n`),
  'chunk unended': says(`${chunked}5\r\nid\n1\n\r\n`),
  'chunk extension': repeats(`${chunked}1;`, 'a'.repeat(1024)),
  'chunk zeros': repeats(chunked, '0'.repeat(1024)),
  'chunk huge': ends(`${chunked}ffffffffffffffffff\r\nid\n1\n`),
  'chunk tiny': repeats(chunked, '1\r\na\r\n'.repeat(1000)),
  'chunk trailers': repeats(`${chunked}5\r\nid\n1\n\r\n0\r\n`, 'a: b\r\n'.repeat(50)),
  'coding unknown': ends(`${ok('transfer-encoding: gzip')}id\n1\n`),
  'coding brotli': ends(whole(brotliCompressSync('id\n1\n'), 'content-encoding: br')),
  'body endless': repeats(ok(), 'x'.repeat(65_536)),
  'body lines': repeats(ok('content-type: text/csv'), 'a,b\n'.repeat(4096)),
  'body trickle': repeats(ok(), 'x', 5),
  'body stall': says(`${ok('content-length: 100')}id\n1\n`),
  'body reset': resets(`${ok('content-length: 100')}id\n1\n`),
  'body empty': ends(whole('')),
  'body page': ends(whole('<html><body>Sign in', 'content-type: text/html')),
  'body unasked': ends(`${head('204 None', 'content-length: 5')}id\n1\n`),
  'body reset content': repeats(head('205 Reset', 'content-length: 99999999'), 'x'.repeat(1024)),
  'body twice': ends(Buffer.concat([whole('id\n1\n'), whole('id\n2\n')])),
  'body of an error': repeats(head('500 Oh'), 'x'.repeat(65_536)),
  'packed bomb': ends(Buffer.concat([Buffer.from(packed), bomb])),
  'packed bombs': repeats(packed, bomb),
  'packed garbage': ends(`${packed}nonsense`),
  'packed cut': ends(Buffer.concat([Buffer.from(packed), gzipSync('id\n1\n'.repeat(999)).subarray(0, 30)])),
  'packed twice': ends(Buffer.concat([Buffer.from(packed), gzipSync(gzipSync('id\n1\n'))])),
  'packed and more': repeats(`${packed}${gzipSync('id\n1\n').toString('latin1')}`, 'x'.repeat(1024)),
  'packed slowly': repeats(packed, Buffer.from('1f8b0800000000000003', 'hex'), 20),
  'redirect metadata': ends(
    head('302 Found', 'location: http://169.254.169.254/latest/meta-data/', 'content-length: 0'),
  ),
  'redirect named': ends(head('307 Found', 'location: http://metadata.google.internal/', 'content-length: 0')),
  'redirect loop': (socket, { url }) => socket.end(head('302 Found', `location: ${url}`, 'content-length: 0')),
  'redirect file': ends(head('302 Found', 'location: file:///etc/passwd', 'content-length: 0')),
  'redirect user': ends(head('302 Found', 'location: http://user:password@localhost/', 'content-length: 0')),
  'redirect garbage': ends(head('302 Found', 'location: http://[', 'content-length: 0')),
  'redirect nowhere': ends(head('301 Moved', 'content-length: 0')),
  'redirect body': repeats(head('302 Found', 'location: /x'), 'x'.repeat(65_536)),
  'xml entities': ends(
    xml(`<!DOCTYPE R [<!ENTITY a "${'a'.repeat(999)}"><!ENTITY b "&a;&a;">]><R>${'&b;'.repeat(999)}</R>`),
  ),
  'xml deep': ends(xml('<a>'.repeat(500_000))),
  'xml wide': ends(xml(`<ListBucketResult>${'<a/>'.repeat(900_000)}</ListBucketResult>`)),
  'xml attributes': ends(xml(`<ListBucketResult ${'a="b" '.repeat(500_000)}/>`)),
  'xml cut': ends(xml(listingOf(entryOf('a.csv', '5')).slice(0, -40))),
  'xml prototype': ends(xml('<__proto__><constructor>a</constructor></__proto__>')),
  'list endless': lists('a.csv', '5', ({ number }) => `token-${number}`),
  'list again': lists('a.csv', '5', () => 'token'),
  'list size': lists('a.csv', '-1', () => undefined),
  'list sizeless': lists('a.csv', '', () => undefined),
  'list large': lists('a.csv', '9007199254740991', () => undefined),
  'list name': lists('%zz%', '5', () => undefined),
  'list nameless': lists('', '5', () => undefined),
  'list many': ends(xml(listingOf(entryOf('a.csv', '5').repeat(20_000)))),
  'json deep': ends(json('['.repeat(1_000_000))),
  'json cut': ends(json('{"rejected":[')),
  'json cut plain': ends(whole('{"rejected":[{"index":0', 'content-type: text/plain')),
  'json types': ends(json('{"items":{"a":1},"nextPageToken":[],"rejected":"all","name":1,"size":{},"error":[null]}')),
  'json nulls': ends(json('{"items":[null,1,"a",{}],"rejected":[null]}')),
  'json numbers': ends(json('{"rejected":[{"index":1e999},{"count":1e308}]}')),
  'json many': ends(json(`{"rejected":[${'{"count":1},'.repeat(80_000)}{}]}`)),
  'json prototype': ends(json('{"__proto__":{"rejected":[{"index":0}]},"constructor":1}')),
  'wait long': ends(head('429 Slow', 'retry-after: 99999999999999999999', 'content-length: 0')),
  'wait back': ends(head('503 Slow', 'retry-after: Thu, 01 Jan 1970 00:00:00 GMT', 'content-length: 0')),
  'repeats credentials': (socket, request) => {
    const said = credentialsIn(request)
    const reason = JSON.stringify({ rejected: [{ index: 0, reason: said }] })
    if (request.head.includes('webhook-id')) return socket.end(json(reason))
    const body = `<Error><Code>${said}</Code><Message>${said}</Message><Region>${said}</Region></Error>`
    const code = `x-ms-error-code: ${said}`
    socket.end(`${head('400 Bad', code, `content-disposition: attachment; filename="${said}.csv"`)}${body}`)
  },
  'connection reset': (socket) => socket.resetAndDestroy(),
  'connection ended': (socket) => socket.end(),
  'connection half': (socket) => socket.pause(),
  'reset in status': resets('HTTP/1.1 2'),
  'reset in header': resets('HTTP/1.1 200 OK\r\na: '),
  'reset in chunk': resets(`${chunked}40\r\nid`),
  stall: () => {},
}

const healthy = whole('id,email\n1,a@example.com\n', 'content-type: text/csv', 'etag: "v1"', 'accept-ranges: bytes')

/**
 * A healthy answer of which some bytes are changed, left out or repeated: the same for the same seed.
 * @param seed from 1
 */
export function mutation(seed: number): Behaviour {
  let state = seed * 2_654_435_761
  const random = (below: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return state % below
  }
  let bytes = healthy
  for (let count = 1 + random(4); count > 0; count--) {
    const at = random(bytes.length)
    const piece = bytes.subarray(at, at + 1 + random(20))
    const before = bytes.subarray(0, at)
    const after = bytes.subarray(at + piece.length)
    const changes = [
      () => Buffer.concat([before, Buffer.from([random(256)]), bytes.subarray(at + 1)]),
      () => Buffer.concat([before, after]),
      () => Buffer.concat([before, piece, piece, after]),
      () => Buffer.concat([before, Buffer.from([random(256), random(256)]), piece, after]),
    ]
    bytes = changes[random(changes.length)]?.() ?? bytes
  }
  return [ends, says, resets][random(3)]?.(bytes) ?? ends(bytes)
}
