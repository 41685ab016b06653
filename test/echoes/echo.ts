import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { Connector, Egress, Row } from '@penstock/connector'
import { createEgress } from '@penstock/connector/egress'
import { loadConnector } from '@penstock/connectors/load'
import { runJob } from '../../packages/engine/src/jobs.ts'
import type {
  Confirmation,
  EventHost,
  IdentityHost,
  Job,
  RejectHost,
  SecretHost,
  TransferHost,
  TransferState,
  UploadHost,
} from '../../packages/engine/src/protocol.ts'
import { isChosen } from '../harness/chosen-connectors.ts'
import { noDigests } from '../harness/no-digests.ts'
import { noUploads } from '../harness/no-uploads.ts'
import { canary, issuedToken, jsonKey, type Side } from './side.ts'
import { type TableName, tables } from './tables.ts'

const sidesAtOnce = 8
/** For connectors that do not use HTTP: nothing of the platform is in their way. */
const direct = createEgress({ networkPolicy: 'any' })

const encodings: Readonly<Record<string, (text: string) => string>> = {
  raw: (text) => text,
  Base64: (text) => Buffer.from(text).toString('base64'),
  'Base64 inside a longer text': (text) => Buffer.from(`a:${text}:b`).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'percent-encoded': encodeURIComponent,
  'percent-encoded twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'escaped for JSON': (text) => JSON.stringify(text).slice(1, -1),
  'escaped for JSON twice': (text) => JSON.stringify(JSON.stringify(text)).slice(1, -1),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
}
const statuses = [200, 400, 403, 404, 422, 500]

/** They speak PostgreSQL’s protocol. */
const overPostgresql = ['postgresql', 'amazon-redshift-source', 'amazon-redshift-destination']
const isNoHttp = (slug: string) => [...overPostgresql, 'mysql', 'sftp-source', 'kafka'].includes(slug)

/** Values that the platform knows of a side. */
function known({ slug, secrets, row }: Side, connector: Connector): string[] {
  const saved = Object.entries(connector.secrets).flatMap(([key, { type }]) =>
    type === 'Password' && typeof secrets[key] === 'string' ? [secrets[key]] : [],
  )
  const isIssued = 'jsonKey' in secrets || 'refreshToken' in secrets
  // Connectors that do not use HTTP fail here before a row is sent.
  const isSent = row !== undefined && !isNoHttp(slug)
  return [
    ...saved.filter((value) => value !== jsonKey).map((value) => /[?&]sig=([^&]+)/.exec(value)?.[1] ?? value),
    ...(isIssued ? [issuedToken] : []),
    ...(isSent ? [canary] : []),
  ]
}

/** Whether a text holds a form, or a part of it that is long enough to mean it. */
function holds(text: string, form: string): boolean {
  const length = Math.min(form.length, 16)
  for (let at = 0; at + length <= form.length; at++) if (text.includes(form.slice(at, at + length))) return true
  return false
}

/** An egress whose every answer repeats a text wherever platforms have texts. */
function echo(said: string, status: number): Egress {
  // Some platforms' own codes decide whether their words are shown.
  const isCoded = status === 422 || status === 400
  const [code, reason, message] = isCoded ? ['001003', 'invalidQuery', `Syntax error: ${said}`] : [said, said, said]
  const one = { code, reason, message, status: said, location: said, title: said, description: said }
  const members = {
    ...one,
    error_description: said,
    sqlState: said,
    statementHandle: said,
    error: { ...one, errors: [one], details: [{ ...one, '@type': 'x', metadata: { reason: said } }], type: said },
    errors: [one],
    data: { ...one },
    request_id: said,
    uploadId: said,
    nextPageToken: said,
    rejected: [{ index: 0, reason: said, field: said }],
  }
  return {
    connect: (_host, port, options) => direct.connect('127.0.0.1', port, options),
    request: async (url, { method } = {}) => {
      const { host, pathname } = new URL(url)
      if (status !== 401 && /token|oauth/i.test(pathname)) {
        const issued = { access_token: issuedToken, expires_in: 3600, token_type: 'Bearer' }
        return Response.json(issued)
      }
      const isXml = /amazonaws|windows\.net/.test(host) || (host === 'peer.example.com' && !/hook|csv/.test(pathname))
      const text = said.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
      const xml = `<?xml version="1.0"?><Error><Code>${text}</Code><Message>${text}</Message><Region>${text}</Region><UploadId>${text}</UploadId><ETag>${text}</ETag></Error>`
      const header = said.replace(/[^\x20-\x7e]/g, '')
      return new Response(method === 'HEAD' ? null : isXml ? xml : JSON.stringify(members), {
        status,
        statusText: header,
        headers: {
          'content-type': isXml ? 'application/xml' : 'application/json',
          etag: header,
          'x-amz-bucket-region': header.toLowerCase(),
          'x-ms-error-code': header,
          'x-ms-request-id': header,
          'www-authenticate': header,
          'retry-after': '1',
        },
      })
    },
  }
}

/** A server that is not HTTP: it says the text in the form in which each of these protocols has errors, and hangs up. */
async function startTalker(slug: string, said: () => string) {
  const server = net.createServer((socket) => {
    // The client's data is read, so that its end is noticed.
    socket.on('error', () => {}).resume()
    if (slug === 'mysql') {
      const body = Buffer.concat([Buffer.from([0xff, 0x15, 0x04]), Buffer.from(`#28000${said()}`)])
      socket.end(Buffer.concat([Buffer.from([body.length & 255, body.length >> 8, 0, 0]), body]))
    } else if (overPostgresql.includes(slug)) {
      socket.once('data', () => {
        const fields = Buffer.from(`SERROR\0C42P01\0M${said()}\0D${said()}\0H${said()}\0t${said()}\0n${said()}\0\0`)
        const head = Buffer.alloc(5)
        head.write('E')
        head.writeInt32BE(fields.length + 4, 1)
        socket.end(Buffer.concat([head, fields]))
      })
    } else socket.end(`SSH-2.0-${said()}\r\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

/** Everything that a job reports, as text. */
async function reportOf(side: Side, kind: 'check' | 'preview' | 'transfer', egress: Egress): Promise<string> {
  const said: unknown[] = []
  const opened = { slug: side.slug, secrets: side.secrets, settings: side.settings }
  const columns = Object.keys(side.row ?? {})
  const rows: Row[] = [Object.values(side.row ?? {})]
  const state: TransferState = {
    source: null,
    destination: opened,
    replay: { columns, rows: 1 },
    confirmed: true,
    testRows: null,
    range: null,
    reached: null,
    plan: null,
    announced: null,
    read: 0,
    checkpoint: null,
    pending: null,
    unconfirmed: null,
    columns: null,
    attempt: 1,
    startedTime: new Date(0).toISOString(),
    cursor: null,
    state: null,
    replaced: null,
    deliveryStates: [],
    drift: 'ignore',
    rules: null,
    purposes: null,
    outcomes: null,
    rejected: 0,
    shape: null,
    part: null,
    table: null,
    divides: null,
    rejectsLeft: 10,
    digests: null,
  }
  const host: TransferHost & SecretHost & IdentityHost & UploadHost & RejectHost & EventHost = {
    ...noUploads,
    ...noDigests,
    leaseSecret: () => assert.fail('no connector of these renews a secret'),
    replaceSecret: () => assert.fail('nothing was leased'),
    reportColumns: async () => null,
    reportRules: async () => {},
    releaseSecret: () => assert.fail('nothing was leased'),
    identityToken: () => assert.fail('no connector of these signs in by an identity'),
    open: async () => state,
    beginBatch: async () => {},
    confirm: async ({ rejects }: Confirmation) => {
      said.push(rejects.map(({ reason, field }) => ({ reason, field })))
      return false
    },
    reportLine: async (line) => {
      await noDigests.reportLine(line)
      said.push(line)
    },
    reportRetry: async (retry) => void said.push(retry),
    divide: async () => {},
    readRejects: async (number) =>
      number > 0 ? [] : rows.map((row, i) => ({ number: i + 1, raw: JSON.stringify(row), error: null })),
  }
  const job = {
    check: { kind, connector: opened, deadlineMs: 20_000 },
    preview: {
      kind,
      source: opened,
      destination: { slug: 'webhook', settings: {} },
      unmapped: true,
      deadlineMs: 20_000,
    },
    transfer: {
      kind,
      id: '0f1e2d3c4b5a6978',
      connectionId: '0f1e2d3c4b5a6979',
      retry: { firstMs: 0, mostMs: 0, totalMs: 0 },
      replaceShareMin: 0,
    },
  }[kind] as Job
  const runtime = {
    loadConnector,
    egress: { ...direct, ...egress },
    plainHttp: { loopback: false, allow: [] },
    localFolders: [],
  }
  said.push(await runJob(job, { runtime, host, signal: new AbortController().signal, onProgress: () => {} }))
  return JSON.stringify(said)
}

/**
 * A platform that repeats what it was sent, secrets and values of rows, in any encoding and anywhere in its answers. Tests, for
 * each side in these tables, that the connector's reports contain none of it.
 */
export function testEchoes(...names: readonly TableName[]): void {
  // Connectors wait before they retry a request, so several are tested concurrently.
  describe('what a platform repeats is not in what is reported of it', { concurrency: sidesAtOnce }, () => {
    for (const side of names.flatMap((name) => tables[name]).filter(isChosen)) testSide(side)
  })
}

function testSide(side: Side): void {
  test(`${side.slug} ${side.secrets.endpoint ?? ''}`, async (t) => {
    const connector = await loadConnector(side.slug)
    const kinds = [
      ...(connector.check ? (['check'] as const) : []),
      ...(connector.source?.open ? (['preview'] as const) : []),
      ...(connector.destination?.deliver && side.row ? (['transfer'] as const) : []),
    ]
    const isHttp = !isNoHttp(side.slug)
    let said = ''
    const talker = isHttp ? undefined : await startTalker(side.slug, () => said)
    t.after(() => talker?.close())
    const at =
      talker && (side.slug === 'kafka' ? { brokers: `peer.example.com:${talker.port}` } : { port: talker.port })
    const secrets = { ...side.secrets, ...at }
    const leaks: string[] = []
    const lookFor = async (value: string, encoding: string, text: string, status: number) => {
      said = text
      for (const kind of kinds) {
        const report = await reportOf({ ...side, secrets }, kind, echo(`it says ${text} here`, status))
        // Reports are searched in plain form and in JSON form.
        if (holds(report, text) || holds(report, JSON.stringify(text).slice(1, -1))) {
          leaks.push(`${kind}, status ${status}, ${value.slice(0, 6)}… ${encoding}: ${report.slice(0, 300)}`)
        }
      }
    }
    const looks = known(side, connector).flatMap((value) =>
      Object.entries(encodings).flatMap(([encoding, encode]) =>
        (isHttp ? statuses : [0]).map((status) => () => lookFor(value, encoding, encode(value), status)),
      ),
    )
    // Connectors wait before they retry a request, so they are tested concurrently. A talker returns one text at a time.
    if (isHttp) await Promise.all(looks.map((look) => look()))
    else for (const look of looks) await look()
    assert.deepEqual(leaks.slice(0, 5), [])
  })
}
