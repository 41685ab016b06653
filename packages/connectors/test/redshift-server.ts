import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import type { Values } from '@penstock/connector'
import { startTcpProxy, type TcpProxy } from './database-proxy.ts'
import { startFailingProxy } from './failing-proxy.ts'
import { type Postgresql, startPostgresql } from './postgresql.ts'
import { loadCopy } from './redshift-copy.ts'
import { errorOf, makeTranslation, onMessages, queryOf, readError, readRow, textOf } from './redshift-messages.ts'
import { readCopy, readUnload, refusal, rewrite, setUp } from './redshift-sql.ts'
import { unload } from './redshift-unload.ts'
import { encode, type Message } from './rogue-postgresql-scripts.ts'
import { type S3TestServer, startS3TestServer } from './s3-server.ts'
import { judgeS3 } from './s3-signature.ts'

/**
 * A server that follows the published documentation of Amazon Redshift: it speaks PostgreSQL’s protocol, refuses what Redshift does not
 * have, and loads files from S3 by COPY. The SQL is run by PostgreSQL.
 */
export type RedshiftServer = {
  /** Runs statements of PostgreSQL behind it. */
  readonly query: Postgresql['query']
  /** Credentials for a connector, with an access key for the bucket `penstock-staging`. */
  readonly secrets: Values
  readonly routes: Readonly<Record<string, string>>
  /** The way to it, which can fail. */
  readonly proxy: TcpProxy
  readonly s3: S3TestServer
  /** The target of a proxy. */
  readonly address: { readonly host: string; readonly port: number }
  /** All statements that came. */
  readonly executed: string[]
  /** The message with which COPY fails, instead of loading anything. */
  copyFailure: string | undefined
  /** Finds what COPY does not load of a row, besides what PostgreSQL does not take. */
  misloads:
    | ((row: Readonly<Record<string, unknown>>) => { readonly column: string; readonly code: number } | undefined)
    | undefined
  /** How many commits are answered by the end of the connection. */
  lostCommits: number
  /** How many bytes it has sent, and whether it waits for a client to read. */
  sent: { bytes: number; waits: boolean }
  /** Called before a statement is run. */
  beforeStatement: ((statement: string) => Promise<unknown>) | undefined
  close(): Promise<void>
}

export const testServerName = 'a server that follows the documentation of Redshift'
export const stagingBucket = 'penstock-staging'
/** The role that the cluster has. */
export const clusterRole = 'arn:aws:iam::123456789012:role/Loader'
const key = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
/** The temporary key of a role of IAM that the key takes on. */
const roleKey = { id: 'ASIAEXAMPLE', secret: 'canary-role-secret/7', token: 'canary-token=7' }

export async function startRedshiftServer(): Promise<RedshiftServer> {
  const [postgresql, s3] = await Promise.all([startPostgresql(), startS3TestServer([stagingBucket], [key, roleKey])])
  await postgresql.query(setUp)
  // The server behind takes the first part of a host for a bucket, also if the request names none.
  const service = await startFailingProxy(s3.address, (asked) => {
    return judgeS3([key, roleKey])(asked) ?? { status: 200, body: '<ListAllMyBucketsResult/>' }
  })
  const isSts = judgeS3([key], Date.now, 'sts')
  const sts = await startFailingProxy(s3.address, (asked) => isSts(asked) ?? { status: 200, body: assumed() })
  const sockets = new Set<net.Socket>()
  const listener = net.createServer((client) => serve(client, server, postgresql, sockets))
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = { host: '127.0.0.1', port: (listener.address() as AddressInfo).port }
  const proxy = await startTcpProxy(address)
  const server: RedshiftServer = {
    query: postgresql.query,
    secrets: {
      ...postgresql.secrets,
      host: address.host,
      port: proxy.port,
      accessKeyId: key.id,
      secretAccessKey: key.secret,
    },
    routes: {
      [`https://${stagingBucket}.s3.us-east-1.amazonaws.com`]: s3.proxy.url,
      'https://missing-bucket.s3.us-east-1.amazonaws.com': s3.proxy.url,
      'https://sts.us-east-1.amazonaws.com': sts.url,
      'https://s3.us-east-1.amazonaws.com': service.url,
    },
    proxy,
    s3,
    address,
    executed: [],
    copyFailure: undefined,
    misloads: undefined,
    lostCommits: 0,
    sent: { bytes: 0, waits: false },
    beforeStatement: undefined,
    async close() {
      await proxy.close()
      for (const socket of sockets) socket.destroy()
      listener.close()
      await Promise.all([postgresql.close(), s3.close(), service.close(), sts.close()])
    },
  }
  return server
}

const assumed = (): string =>
  `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>${roleKey.id}</AccessKeyId><SecretAccessKey>${roleKey.secret}</SecretAccessKey><SessionToken>${roleKey.token}</SessionToken><Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`

/** The result of a statement of the server’s own. */
export type OwnResult = {
  readonly rows: readonly (readonly (string | null)[])[]
  readonly error: { readonly state: string; readonly message: string } | undefined
}

function serve(client: net.Socket, server: RedshiftServer, target: Postgresql, sockets: Set<net.Socket>): void {
  const upstream = net.connect(target.port, target.host)
  const translate = makeTranslation()
  let isCommit = false
  /** Its query_group. */
  let label = ''
  let status = Buffer.from('I')
  /** Takes the messages of a statement of the server’s own. */
  let own: ((message: Message) => void) | undefined
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    sockets.add(from)
    from.setNoDelay(true)
    from.on('error', () => to.destroy())
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }
  onMessages(upstream, false, (message) => {
    if (message.type === 'Z') status = Buffer.from(message.body)
    if (own) return own(message)
    if (isCommit && message.type === 'C' && server.lostCommits > 0) {
      server.lostCommits--
      return void client.destroy()
    }
    const bytes = encode(translate(message))
    server.sent.bytes += bytes.length
    if (client.write(bytes)) return
    server.sent.waits = true
    upstream.pause()
  })
  client.on('drain', () => {
    server.sent.waits = false
    upstream.resume()
  })
  const ask = (text: string): Promise<OwnResult> =>
    new Promise((resolve) => {
      const rows: (string | null)[][] = []
      let error: OwnResult['error']
      own = ({ type, body }) => {
        if (type === 'D') rows.push(readRow(body))
        if (type === 'E') error = readError(body)
        if (type !== 'Z') return
        own = undefined
        resolve({ rows, error })
      }
      upstream.write(queryOf(text))
    })
  const copy = async (statement: string): Promise<void> => {
    const given = readCopy(statement)
    const refused = given
      ? await loadCopy(given, server, { keys: [key, roleKey], role: clusterRole }, ask)
      : { state: '42601', message: `syntax error at or near "${statement.slice(0, 200)}"` }
    const answer = refused
      ? errorOf(refused.state, refused.message)
      : encode({ type: 'C', body: Buffer.from('COPY\0') })
    client.write(Buffer.concat([answer, encode({ type: 'Z', body: status })]))
  }
  /** It is run to its end, whether or not the client is still there. */
  const writeFiles = async (statement: string): Promise<void> => {
    const given = readUnload(statement)
    await server.query('insert into sys_query_history values ($1, $2, $3)', [label, 'UNLOAD', 'running'])
    const refused = given
      ? await unload(given, server, clusterRole)
      : { state: '42601', message: `syntax error at or near "${statement.slice(0, 200)}"` }
    await server.query(`update sys_query_history set status = 'success' where query_label = $1`, [label])
    const answer = refused
      ? errorOf(refused.state, refused.message)
      : encode({ type: 'C', body: Buffer.from('UNLOAD\0') })
    client.write(Buffer.concat([answer, encode({ type: 'Z', body: status })]))
  }
  const take = async ({ type, body }: Message): Promise<void> => {
    if (type !== 'Q' && type !== 'P') return void upstream.write(type === '' ? untyped(body) : encode({ type, body }))
    const name = type === 'P' ? body.subarray(0, body.indexOf(0) + 1) : Buffer.alloc(0)
    const rest = body.subarray(name.length)
    const text = textOf(rest)
    server.executed.push(text)
    isCommit = /^commit\b/i.test(text)
    await server.beforeStatement?.(text)
    if (type === 'Q' && /^\s*copy\b/i.test(text)) return copy(text)
    if (type === 'Q' && /^unload\b/.test(text)) return writeFiles(text)
    const [, group] = /^set query_group to '(\w+)'$/.exec(text) ?? []
    if (group !== undefined) {
      label = group
      const answer = encode({ type: 'C', body: Buffer.from('SET\0') })
      return void client.write(Buffer.concat([answer, encode({ type: 'Z', body: status })]))
    }
    const written = rewrite(text)
    const sql = 'sql' in written ? written.sql : refusal(written.state, written.message)
    const parts = [name, Buffer.from(`${sql}\0`), rest.subarray(rest.indexOf(0) + 1)]
    upstream.write(encode({ type, body: Buffer.concat(parts) }))
  }
  // One after the other, as they came.
  let last = Promise.resolve()
  onMessages(client, true, (message) => {
    last = last.then(() => take(message)).catch(() => void client.destroy())
  })
}

function untyped(body: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(body.length + 4)
  return Buffer.concat([head, body])
}
