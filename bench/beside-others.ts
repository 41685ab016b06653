/**
 * `npm run bench:beside-others [-- --rows 1000000 --rounds 3 --only table --postgres /usr/lib/postgresql/15]`: copies of a
 * PostgreSQL table, compared with other installed programs, alternately in one run. Rows per processor-second count the processes
 * of the tool, not the servers. The server must be installed, because `pg_dump` cannot read a server that is newer than itself.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startOtherPostgres } from '../test/harness/other-postgres.ts'
import { cleanupOfRun } from './environment.ts'
import { isInstalled, linesOf, runLine, type Taken } from './others/tools.ts'
import { openFixture, type Worker } from './transfers/transfer-fixture.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    postgres: { type: 'string', default: '/usr/lib/postgresql/15' },
  },
})
const rows = Number(options.rows)
const rounds = Number(options.rounds)

await using cleanup = cleanupOfRun()
const directory = await mkdtemp(join(tmpdir(), 'penstock-bench-'))
cleanup.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))
const server = await startOtherPostgres(options.postgres, {})
cleanup.defer(() => server.stop())
const fixture = await openFixture({ directory, serverUrl: server.url }, directory)
cleanup.defer(() => fixture.close())

/** The database that other programs copy to. */
const copyUrl = await makeDatabase('copies')
const source = new pg.Pool({ connectionString: fixture.targetUrl, max: 1 })
const copies = new pg.Pool({ connectionString: copyUrl, max: 1 })
cleanup.defer(async () => {
  await source.end()
  await copies.end()
})
const columns = `id bigint primary key, name text, email text, city text, age int, amount numeric(12, 2),
  changed timestamptz, active boolean, born date, score double precision`
const withoutKey = columns.replace(' primary key', '')
await source.query(`create table crowd (${columns})`)
await source.query(
  `insert into crowd select i, 'Given' || i % 997 || ' Family' || i % 1009, 'Person.' || i || '@Example.com', 'City ' || i % 499,
     i % 90, (i % 100000)::numeric / 100, timestamptz '2020-01-01' + i * interval '1 minute', i % 3 = 0,
     date '1950-01-01' + (i % 18000)::int, i / 7.0
   from generate_series(1::bigint, $1) as i`,
  [rows],
)
await source.query('vacuum analyze crowd')
await source.query(`create table crowd_copy (${withoutKey})`)
await source.query(`create table crowd_keyed (${columns})`)
await source.query(`create table crowd_hashed (${withoutKey.replace('name text', 'full_name text')})`)
await copies.query(`create table crowd (${withoutKey})`)

type Figure = { name: string; best: Taken; peakMb?: number }
const figures = new Map<string, Figure>()
const take = (name: string, taken: Taken, peakMb?: number) => {
  const before = figures.get(name)?.best ?? { seconds: Number.POSITIVE_INFINITY, processor: Number.POSITIVE_INFINITY }
  const best = {
    seconds: Math.min(before.seconds, taken.seconds),
    processor: Math.min(before.processor, taken.processor),
  }
  figures.set(name, { name, best, ...(peakMb !== undefined && { peakMb }) })
  say(`${name}: ${taken.seconds.toFixed(2)} s, ${taken.processor.toFixed(2)} s of processors`)
}

const tools = Object.entries(linesOf(fixture.targetUrl, copyUrl, 'crowd'))
const names = ['id', 'email', 'city', 'age', 'amount', 'changed', 'active', 'born', 'score']
const mapping = {
  full_name: 'name',
  ...Object.fromEntries(names.map((name) => [name, name])),
  email: { column: 'email', normalise: 'email', hash: 'sha256' },
}
/** Transfers of the same table: the settings of the destination, and the statement that prepares each run. */
const cases: Readonly<Record<string, { settings: Record<string, string>; before: string }>> = {
  'Penstock, table': { settings: { table: 'crowd_copy', writeMode: 'Insert' }, before: 'truncate crowd_copy' },
  'Penstock, filtered': {
    settings: { table: 'crowd_copy', writeMode: 'Insert', filter: 'age >= 30' },
    before: 'truncate crowd_copy',
  },
  'Penstock, renamed and hashed': {
    settings: { table: 'crowd_hashed', writeMode: 'Insert', mapping: JSON.stringify(mapping) },
    before: 'truncate crowd_hashed',
  },
  'Penstock, upsert': {
    settings: { table: 'crowd_keyed', writeMode: 'Upsert', keyColumns: 'id' },
    before: 'truncate crowd_keyed',
  },
  'Penstock, changed rows (0.1 %)': {
    settings: { table: 'crowd_keyed', writeMode: 'Upsert', keyColumns: 'id', sendRows: 'Changed' },
    before: 'update crowd set age = age + 1 where id % 1000 = 0',
  },
}

for (const [name, line] of tools) {
  const [program = ''] = name === 'pgloader' ? ['pgloader'] : ['psql']
  if (!wanted(name) || !(await isInstalled(program))) continue
  await measure(async () => {
    await copies.query('truncate crowd')
    take(name, await runLine(line))
  })
}
for (const [name, { settings, before }] of Object.entries(cases)) {
  if (!wanted(name)) continue
  const id = await fixture.connectTables('crowd', settings)
  const worker = await fixture.startWorker()
  // A worker does some work only once, and the first transfer of changed rows sends all of them.
  await prepare(before)
  await fixture.run(id)
  const idle = worker.processes.runnerMemoryMb()
  await measure(async () => {
    await prepare(before)
    take(name, await transfer(worker, id), worker.processes.runnerPeakMb() - idle)
  })
  await worker.stop()
}
report()

async function transfer({ processes }: Worker, id: string): Promise<Taken> {
  const before = processes.runnerSeconds() + processes.supervisorSeconds()
  const seconds = await fixture.run(id)
  return { seconds, processor: processes.runnerSeconds() + processes.supervisorSeconds() - before }
}

async function prepare(statement: string): Promise<void> {
  await source.query(statement)
  await source.query('checkpoint')
}

async function measure(round: () => Promise<void>): Promise<void> {
  for (let i = 0; i < rounds; i++) await round()
}

async function makeDatabase(name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}

function report(): void {
  const limit = figures.get('pg_dump | psql')?.best.seconds
  const head = ['rows/s', 'rows/processor-s', '× pg_dump | psql', 'peak MB']
  say(`${rows.toLocaleString('en')} rows, the best of ${rounds}.`)
  say(`\n${'Tool'.padEnd(34)}${head.map((text) => text.padStart(18)).join('')}`)
  for (const { name, best, peakMb } of figures.values()) {
    const cells = [
      number(rows / best.seconds),
      number(rows / best.processor),
      limit === undefined ? '' : (limit / best.seconds).toFixed(2),
      peakMb === undefined ? '' : number(peakMb),
    ]
    say(`${name.padEnd(34)}${cells.map((text) => text.padStart(18)).join('')}`)
  }
}

function wanted(name: string): boolean {
  return name.includes(options.only)
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
