/**
 * A first evening: starts the service, moves a file of 100,000 people from a folder into PostgreSQL and to a webhook, changes 100
 * of them, and moves the file again. It uses only the public API. Run `npm run demo`. In a terminal, the service runs until
 * Ctrl-C.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from '@penstock/client'
import { connectors } from '@penstock/connectors'
import pg from 'pg'
import { startEmbeddedPostgres } from '../packages/server/src/embedded/embedded-postgres.ts'
import { writePeople } from './people.ts'
import { startReceiver } from './receiver.ts'
import { showAccount, showProgress } from './show.ts'

const rows = 100_000
const rejectsShown = 3
/** How many people are changed before the second transfer to the table. */
const moved = 100
const pollMs = 250
const startTimeoutMs = 60_000

const directory = resolve(process.env.PENSTOCK_DEMO_DIR ?? '.penstock-demo')
const files = join(directory, 'files')

await using opened = new AsyncDisposableStack()
const say = (line: string) => void process.stdout.write(`${line}\n`)

await mkdir(files, { recursive: true })
await writePeople(join(files, 'people.csv'), rows)
say(`Wrote ${rows.toLocaleString('en')} people, some of them dirty, to ${join(files, 'people.csv')}`)

const { url, client } = await startService()
say(`Penstock serves ${url} (documentation: ${url}/docs)\n`)
const database = await prepareDatabase()
const receiver = await startReceiver()
opened.defer(() => receiver.close())

const account = await findAccount()
const folder = connectorId('local-folder')
const postgresql = connectorId('postgresql')
const webhook = connectorId('webhook')
await client.addConnectors({ accountId: account, body: { connectorIds: [folder, postgresql, webhook] } })
await configure(folder, { folder: files })
await configure(postgresql, database.secrets)
await configure(webhook, { url: receiver.url, signingSecret: receiver.signingSecret })

const table = { table: 'people', writeMode: 'Upsert', keyColumns: 'id', sendRows: 'Changed' }
const toTable = await connect('people.csv → PostgreSQL', postgresql, table)
await run(toTable)
await run(await connect('people.csv → webhook', webhook, { rowsPerRequest: 1000 }))
await writePeople(join(files, 'people.csv'), rows, moved)
say(`${moved} people moved. The connection sends changed rows, and retries rejected rows.\n`)
await run(toTable)
say(
  `The table people holds ${await database.count()} rows; the webhook accepted ${receiver.taken().toLocaleString('en')}.`,
)

if (process.stdin.isTTY) {
  say(
    `The service still runs at ${url}, with the credentials in ${join(directory, 'credentials.json')}. Ctrl-C stops it.`,
  )
  await once(process, 'SIGINT')
}

/** The service, as `npm start` runs it, with separate data and on a free port. */
async function startService(): Promise<{ url: string; client: Client }> {
  const port = await freePort()
  const env = {
    ...process.env,
    PENSTOCK_DATA_DIR: directory,
    PENSTOCK_PORT: String(port),
    PENSTOCK_LOCAL_FOLDERS: files,
    PENSTOCK_LOG_LEVEL: 'warn',
  }
  for (const name of [
    'DATABASE_URL',
    'PENSTOCK_HOST',
    'PENSTOCK_PUBLIC_URL',
    'PENSTOCK_TRUSTED_PROXIES',
    'PENSTOCK_EGRESS',
    'PENSTOCK_CLIENT_ID',
    'PENSTOCK_CLIENT_SECRET',
    'PENSTOCK_MASTER_KEY',
  ]) {
    delete env[name as keyof typeof env]
  }
  const program = join(import.meta.dirname, '../packages/server/bin/penstock.js')
  const service = spawn(process.execPath, [program, 'serve'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  })
  const ended = once(service, 'exit')
  opened.defer(async () => {
    service.kill('SIGTERM')
    await ended
  })
  const base = `http://127.0.0.1:${port}`
  const begun = Date.now()
  while (
    !(await fetch(`${base}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (service.exitCode !== null || Date.now() - begun > startTimeoutMs)
      throw new Error('The service did not start. See its output above.')
    await delay(pollMs)
  }
  const { clientId, clientSecret } = JSON.parse(await readFile(join(directory, 'credentials.json'), 'utf8'))
  return { url: base, client: createClient({ baseUrl: base, clientId, clientSecret }) }
}

/** A separate database in the PostgreSQL of the service, with an empty table of people. */
async function prepareDatabase() {
  const embedded = await startEmbeddedPostgres({ directory: join(directory, 'postgres') })
  opened.defer(() => embedded.stop())
  const admin = new pg.Client({ connectionString: embedded.url })
  await admin.connect()
  const { rowCount } = await admin.query(`select from pg_database where datname = 'demo'`)
  if (rowCount === 0) await admin.query('create database demo')
  await admin.end()
  const address = new URL(embedded.url)
  address.pathname = '/demo'
  const demo = new pg.Client({ connectionString: address.href })
  await demo.connect()
  opened.defer(() => demo.end())
  await demo.query(`
    create table if not exists people
      (id integer primary key, name text, email text not null, born date, city text, country char(2));
    truncate people`)
  return {
    secrets: {
      host: address.hostname,
      port: Number(address.port),
      database: 'demo',
      user: address.username,
      password: decodeURIComponent(address.password),
      tlsMode: 'disable',
    },
    count: async () => Number((await demo.query('select count(*) from people')).rows[0].count).toLocaleString('en'),
  }
}

async function findAccount(): Promise<string> {
  const { reply } = await client.listAccounts({ query: { q: 'Demo' } })
  return reply.find(({ name }) => name === 'Demo')?.id ?? (await client.addAccount({ body: { name: 'Demo' } })).reply.id
}

function connectorId(slug: string): string {
  const connector = connectors.find((candidate) => candidate.slug === slug)
  if (!connector) throw new Error(`The catalogue has no ${slug}`)
  return connector.id
}

async function configure(id: string, secretConfig: Record<string, string | number>): Promise<void> {
  await client.configureConnector({ accountId: account, id, body: { secretConfig } })
  const { reply } = await client.checkConnector({ accountId: account, id })
  if (!reply.ok) throw new Error(reply.message)
}

type Connection = { readonly id: string; readonly name: string }

/** Connects the file with a destination. */
async function connect(
  name: string,
  destConnectorId: string,
  destConnectionConfig: Record<string, string | number>,
): Promise<Connection> {
  const srcConnectionConfig = { files: 'people.csv' }
  const body = { name, srcConnectorId: folder, srcConnectionConfig, destConnectorId, destConnectionConfig }
  const { id } = (await client.createConnection({ accountId: account, body })).reply
  await client.updateConnectionStatus({ accountId: account, id, body: { action: 'activate' } })
  return { id, name }
}

/** Runs a connection, and shows the account of its rows. */
async function run({ id, name }: Connection): Promise<void> {
  const accountId = account
  let { reply: transfer } = await client.startTransfer({ accountId, id, body: {} })
  while (transfer.finishedTime === null) {
    showProgress(name, transfer)
    await delay(pollMs)
    transfer = (await client.getTransfer({ accountId, id, transferId: transfer.id })).reply
  }
  const rejects = await client.listRejects({ accountId, id, transferId: transfer.id, query: { size: rejectsShown } })
  showAccount(name, transfer, rejects.reply)
  if (transfer.status !== 'succeeded' && transfer.status !== 'partial') process.exitCode = 1
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}
