import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@penstock/client'
import { connectors } from '@penstock/connectors'
import pg from 'pg'
import { generateMasterKey } from '../../packages/server/src/secrets/seal.ts'
import type { Environment } from '../environment.ts'
import { freePort, startServer } from '../processes.ts'
import { watchWorker } from './worker-processes.ts'

/** The service as users have it, with workers in separate processes. */
export type Fixture = Awaited<ReturnType<typeof openFixture>>
export type Worker = Awaited<ReturnType<typeof startWorker>>

const root = join(import.meta.dirname, '../..')
const program = 'packages/server/bin/penstock.js'
const columns = ['first_name', 'last_name', 'email', 'phone', 'city', 'zip', 'country', 'born', 'amount']
const pollMs = 20

/**
 * @param checkout the version to measure; this one by default
 * @param name of its databases, if two versions share a server
 */
export async function openFixture(environment: Environment, folder: string, checkout = root, name = '') {
  const serviceUrl = await makeDatabase(environment.serverUrl, `service${name}`)
  const targetUrl = await makeDatabase(environment.serverUrl, `target${name}`)
  const port = await freePort()
  const credentials = { clientId: 'bench', clientSecret: 'a-secret-of-the-benchmark' }
  const env: Record<string, string> = {
    DATABASE_URL: serviceUrl,
    PENSTOCK_MASTER_KEY: generateMasterKey(),
    PENSTOCK_DATA_DIR: join(environment.directory, `data${name}`),
    PENSTOCK_PORT: String(port),
    PENSTOCK_CLIENT_ID: credentials.clientId,
    PENSTOCK_CLIENT_SECRET: credentials.clientSecret,
    PENSTOCK_LOCAL_FOLDERS: folder,
    PENSTOCK_TRANSFERS_PER_ACCOUNT: '100',
    PENSTOCK_EGRESS: 'any',
    PENSTOCK_RATE_LIMIT: '0',
    PENSTOCK_LOG_LEVEL: 'warn',
  }
  const logFile = join(environment.directory, 'service.log')
  const serverEnv = { ...env, PENSTOCK_WORKER: '0' }
  const server = await startServer(program, ['serve'], { env: serverEnv, port, path: '/readyz', logFile, checkout })
  const client = createClient({ baseUrl: server.url, ...credentials })
  const { id: accountId } = (await client.addAccount({ body: { name: 'Bench' } })).reply
  const [folderId, postgresqlId, webhookId] = [idOf('local-folder'), idOf('postgresql'), idOf('webhook')]
  await client.addConnectors({ accountId, body: { connectorIds: [folderId, postgresqlId, webhookId] } })
  const configure = (id: string, secretConfig: Record<string, string | number>) =>
    client.configureConnector({ accountId, id, body: { secretConfig } })
  await configure(folderId, { folder })
  const { hostname, port: targetPort, pathname, username, password } = new URL(targetUrl)
  await configure(postgresqlId, {
    host: hostname,
    port: Number(targetPort),
    database: pathname.slice(1),
    user: username,
    password: decodeURIComponent(password),
    tlsMode: 'disable',
  })
  const service = new pg.Pool({ connectionString: serviceUrl, max: 1 })
  const target = new pg.Pool({ connectionString: targetUrl, max: 1 })
  await target.query(`create table people (id integer, ${columns.map((name) => `${name} text`).join(', ')})`)

  const connect = async (
    destConnectorId: string,
    files: string,
    destConnectionConfig: Record<string, string | number | boolean>,
  ) =>
    connectAny({
      name: files,
      srcConnectorId: folderId,
      srcConnectionConfig: { files },
      destConnectorId,
      destConnectionConfig,
    })
  const connectAny = async (body: Parameters<typeof client.createConnection>[0]['body']) => {
    const { id } = (await client.createConnection({ accountId, body })).reply
    await client.updateConnectionStatus({ accountId, id, body: { action: 'activate' } })
    return id
  }
  const runAll = async (ids: readonly string[]) => {
    const begun = performance.now()
    const started = await Promise.all(ids.map((id) => client.startTransfer({ accountId, id, body: {} })))
    await haveSucceeded(
      service,
      started.map(({ reply }) => reply.id),
    )
    return (performance.now() - begun) / 1000
  }
  /** Starts a connection repeatedly. Returns the median duration of its transfers by the service's clock, in milliseconds. */
  const runSpread = async (id: string, { times, everyMs }: { times: number; everyMs: number }) => {
    const ids: string[] = []
    const begun = performance.now()
    for (let i = 0; i < times; i++) {
      await delay(Math.max(0, begun + i * everyMs - performance.now()))
      ids.push((await client.startTransfer({ accountId, id, body: {} })).reply.id)
    }
    await haveSucceeded(service, ids)
    const { rows } = await service.query<{ ms: number }>(
      `select 1000 * percentile_cont(0.5) within group (order by extract(epoch from finished_time - created_time)) as ms
       from transfers where id = any($1)`,
      [ids],
    )
    return Number(rows[0]?.ms)
  }
  return {
    targetUrl,
    connectToFolder: (files: string, settings: Record<string, string | boolean>) => connect(folderId, files, settings),
    connectToTable: (files: string, settings: Record<string, string> = {}) =>
      connect(postgresqlId, files, { table: 'people', writeMode: 'Insert', ...settings }),
    /** Adds a record of outcomes. Answers the settings of a connection that records its outcomes there. */
    addOutcomes: async (outcomeColumns: string) => {
      const id = idOf('outcomes')
      await client.addConnectors({ accountId, body: { connectorIds: [id] } })
      const { configurationId } = (await configure(id, {})).reply
      return { outcomes: configurationId, outcomeColumns }
    },
    /** A mirror of a file, by its first column. */
    connectToMirror: async (files: string) => {
      await target.query(
        'create table mirrored (id integer primary key, name text, email text, city text, amount text)',
      )
      return connect(postgresqlId, files, {
        table: 'mirrored',
        writeMode: 'Upsert',
        keyColumns: 'id',
        sendRows: 'Mirror',
      })
    },
    /** Bytes of the state of a connection, and its pages. */
    stateOf: async (id: string) => {
      const { rows } = await service.query<{ records: number; keys: number; pages: number }>(
        `select coalesce(sum(octet_length(d.digests)), 0)::float8 as records,
                coalesce(sum(octet_length(d.keys_sealed)), 0)::float8 as keys, count(*)::int as pages
           from connection_digests d join connection_states s on s.connection_id = d.connection_id
          where d.connection_id = $1 and d.generation = s.digests_generation`,
        [id],
      )
      return rows[0] ?? { records: 0, keys: 0, pages: 0 }
    },
    connectToWebhook: async (files: string, url: string) => {
      await configure(webhookId, { url, signingSecret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` })
      return connect(webhookId, files, { rowsPerRequest: 1000 })
    },
    /** From a table of the database to another one. @param settings of the destination */
    connectTables: (table: string, settings: Record<string, string>) =>
      connectAny({
        name: table,
        srcConnectorId: postgresqlId,
        srcConnectionConfig: { table },
        destConnectorId: postgresqlId,
        destConnectionConfig: settings,
      }),
    /** From a table of the database to one of ClickHouse. */
    connectToClickHouse: async (table: string, address: string) => {
      const clickhouseId = idOf('clickhouse-destination')
      await client.addConnectors({ accountId, body: { connectorIds: [clickhouseId] } })
      await configure(clickhouseId, { address, user: 'bench', password: 'a-password-of-the-benchmark' })
      return connectAny({
        name: table,
        srcConnectorId: postgresqlId,
        srcConnectionConfig: { table },
        destConnectorId: clickhouseId,
        destConnectionConfig: { table },
      })
    },
    /** Creates a table with a primary key and this number of people, in columns like the file's. */
    fillTable: async (table: string, rows: number) => {
      await target.query(`
        create table ${table} as
        select i as id, 'Given' || i % 997 as first_name, 'Family' || i % 1009 as last_name,
               'Person.' || i || '@Example.com' as email, '+49151' || 10000000 + i % 89999999 as phone,
               'City ' || i % 499 as city, (10000 + i % 89999)::text as zip, 'DE' as country,
               date '1950-01-01' + (i % 18000) as born, (i % 100000)::numeric(12, 2) / 100 as amount
          from generate_series(1, ${rows}) as numbers (i)`)
      await target.query(`alter table ${table} add primary key (id)`)
      await target.query(`vacuum analyze ${table}`)
    },
    dropTable: (table: string) => target.query(`drop table ${table}`),
    emptyTable: () => target.query('truncate people'),
    /** Runs a connection once, and answers the seconds from the call that starts it to its end. */
    run: (id: string) => runAll([id]),
    runAll,
    runSpread,
    /** Counts of the last transfer of a connection, which was divided. */
    lastOf: async (id: string) => {
      const { rows } = await service.query<{ accepted: number; movedAgain: number }>(
        `select t.accepted::float8 as accepted, count(p.number) filter (where p.attempt > 1)::float8 as "movedAgain"
           from transfers t left join transfer_parts p on p.transfer_id = t.id
          where t.connection_id = $1 group by t.id order by t.created_time desc limit 1`,
        [id],
      )
      return rows[0] ?? { accepted: 0, movedAgain: 0 }
    },
    startWorker: (more: Record<string, string> = {}) => startWorker({ ...env, ...more }, logFile, checkout),
    serverPid: server.pid,
    close: async () => {
      await target.end()
      await service.end()
      await server.stop()
    },
  }
}

async function makeDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

function idOf(slug: string): string {
  const connector = connectors.find((candidate) => candidate.slug === slug)
  if (!connector) throw new Error(`The catalogue has no ${slug}`)
  return connector.id
}

/** Asks the database: hundreds who ask the service every 20 ms would be measured themselves. */
async function haveSucceeded(service: pg.Pool, ids: readonly string[]): Promise<void> {
  const sql = 'select status, error_code from transfers where id = any($1) and finished_time is not null'
  for (;;) {
    const { rows } = await service.query<{ status: string; error_code: string | null }>(sql, [ids])
    const failed = rows.find(({ status }) => status !== 'succeeded')
    if (failed) throw new Error(`A transfer ${failed.status}: ${failed.error_code}`)
    if (rows.length === ids.length) return
    await delay(pollMs)
  }
}

async function startWorker(env: Record<string, string>, logFile: string, checkout: string) {
  const log = openSync(logFile, 'a', 0o600)
  const profile = process.env.PENSTOCK_BENCH_PROFILE
  const options = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []
  const child = spawn(process.execPath, [...options, join(checkout, program), 'worker'], {
    env: { PATH: process.env.PATH, PENSTOCK_EGRESS: 'any', ...env, PENSTOCK_LOG_LEVEL: 'info' },
    stdio: ['ignore', log, log],
  })
  await waitUntilWorking(child)
  const pid = child.pid ?? 0
  const processes = watchWorker(pid)
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    processes.stop()
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  return { pid, processes, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') }
}

/**
 * A worker does not listen on a port. After it has loaded its modules it works soon, and transfers that begin earlier wait for
 * it.
 */
async function waitUntilWorking(child: ChildProcess): Promise<void> {
  await delay(2_500)
  if (child.exitCode !== null) throw new Error('The worker ended at once')
}
