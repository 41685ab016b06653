/**
 * `npm run bench:beside -- --before /path/to/another/checkout [--rows 1000000] [--rounds 3]`: transfers of this version and of
 * another one, alternately in one run. Ratios above 1 mean that this version is faster. Both need `npm ci`.
 */
import { chmod, mkdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { startSink } from './transfers/limits.ts'
import { writeRows } from './transfers/rows.ts'
import { type Fixture, openFixture } from './transfers/transfer-fixture.ts'

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
})
if (!options.before) throw new Error('Name the other checkout: --before /path/to/it')
const rows = Number(options.rows)
const rounds = Number(options.rounds)

/** The least of several runs on each side: other work on the machine can only add to it. */
class Best {
  before = Number.POSITIVE_INFINITY
  now = Number.POSITIVE_INFINITY

  take(side: Side, figure: number): void {
    this[side] = Math.min(this[side], figure)
  }
}

await using cleanup = cleanupOfRun()

const environment = await startPostgres(cleanup)
const folder = join(environment.directory, 'files')
await mkdir(folder)
await chmod(folder, 0o755)
await writeRows(join(folder, 'people.csv'), rows)
await writeRows(join(folder, 'part.csv'), Math.floor(rows / 2))
await writeRows(join(folder, 'few.csv'), 100)
const sink = await startSink()
cleanup.defer(() => sink.close())
const { size } = await stat(join(folder, 'people.csv'))
const checkouts = { before: resolve(options.before), now: join(import.meta.dirname, '..') }
const fixtures: Record<Side, Fixture> = {
  before: await openFixture(environment, folder, checkouts.before, '_before'),
  now: await openFixture(environment, folder, checkouts.now, '_now'),
}
for (const fixture of Object.values(fixtures)) cleanup.defer(() => fixture.close())
type Side = keyof typeof checkouts
const sides = ['before', 'now'] as const

say(
  `${rows.toLocaleString('en')} rows, ${Math.round(size / 1e6)} MB; ${rounds} rounds in turns, the best of each side counts.`,
)
say(`\n${'Figure'.padEnd(52)}${['before', 'now', 'ratio', 'aim'].map((text) => text.padStart(11)).join('')}`)
if (wanted('idle memory')) await memory()
if (wanted('first row')) await firstRow()
if (wanted('small transfers')) await small()
if (wanted('csv → webhook'))
  await whole('CSV → webhook, seconds', (fixture) => fixture.connectToWebhook('people.csv', sink.url))
if (wanted('csv → postgresql'))
  await whole('CSV → PostgreSQL, seconds', (fixture) => fixture.connectToTable('people.csv'))
if (wanted('eight transfers')) await eight()

/** Memory of an idle worker and an idle service, with their runners. Memory that processes share counts once. */
async function memory(): Promise<void> {
  const found = { before: 0, now: 0 }
  for (const side of sides) {
    const worker = await fixtures[side].startWorker()
    await delay(5_000)
    found[side] = (await memoryMb(worker.pid)) + (await memoryMb(fixtures[side].serverPid))
    await worker.stop()
  }
  say(
    line(
      'Idle memory of a service and a worker, MB',
      found,
      found.before + 60 - found.now >= 0 ? 'ok' : 'SHORT',
      '≤ +30 each',
    ),
  )
}

/** From the call that starts a transfer to the first message at its destination. The worker was idle before. */
async function firstRow(): Promise<void> {
  const id = {
    before: await fixtures.before.connectToWebhook('few.csv', sink.url),
    now: await fixtures.now.connectToWebhook('few.csv', sink.url),
  }
  const name = 'Start to first row, milliseconds'
  await compare(name, rounds * 3, async (side) => {
    await delay(1_500)
    const arrived = sink.first()
    const begun = performance.now()
    await fixtures[side].run(id[side])
    return (await arrived) - begun
  })
}

/** Two hundred transfers of a hundred rows: one after the other within a minute, and all requested together. */
async function small(): Promise<void> {
  const ids: Record<Side, string[]> = { before: [], now: [] }
  for (const side of sides) {
    for (let i = 0; i < 200; i++) ids[side].push(await fixtures[side].connectToWebhook('few.csv', sink.url))
  }
  const inAMinute = new Best()
  for (const side of sides) {
    const worker = await fixtures[side].startWorker()
    inAMinute.take(side, await fixtures[side].runSpread(ids[side][0] ?? '', { times: 200, everyMs: 300 }))
    await worker.stop()
  }
  report('200 transfers of 100 rows in a minute, median ms', inAMinute, 0.95)
  await compare('200 transfers of 100 rows at once, seconds', rounds, (side) => fixtures[side].runAll(ids[side]))
}

async function whole(name: string, connect: (fixture: Fixture) => Promise<string>): Promise<void> {
  const ids = { before: await connect(fixtures.before), now: await connect(fixtures.now) }
  await compare(name, rounds, async (side) => {
    await fixtures[side].emptyTable()
    return fixtures[side].run(ids[side])
  })
}

/** The first run of a worker that has just started, and the fourth run, which is the usual case. */
async function compare(name: string, rounds: number, run: (side: Side) => Promise<number>): Promise<void> {
  const first = new Best()
  const fourth = new Best()
  for (let round = 0; round < rounds; round++) {
    for (const side of sides) {
      const worker = await fixtures[side].startWorker()
      first.take(side, await run(side))
      for (let i = 0; i < 2; i++) await run(side)
      fourth.take(side, await run(side))
      await worker.stop()
    }
  }
  report(name, fourth, 0.95)
  report('… in a worker just started', first)
}

/**
 * Eight transfers: in one worker of this version, compared with one worker (all eight) and two workers (four each) of the other
 * version.
 */
async function eight(): Promise<void> {
  const ids: Record<Side, string[]> = { before: [], now: [] }
  for (const side of sides) {
    for (let i = 0; i < 8; i++)
      ids[side].push(await fixtures[side].connectToFolder('part.csv', { subfolder: `eight-${side}` }))
  }
  const beside = { one: new Best(), two: new Best() }
  const all = { PENSTOCK_TRANSFERS: '8', PENSTOCK_TRANSFERS_PER_ORGANIZATION: '8', PENSTOCK_TRANSFERS_PER_ACCOUNT: '8' }
  const half = { PENSTOCK_TRANSFERS: '4' }
  const measure = async (side: Side, envs: Record<string, string>[]) => {
    const workers = await Promise.all(envs.map((env) => fixtures[side].startWorker(env)))
    await fixtures[side].runAll(ids[side])
    const seconds = await fixtures[side].runAll(ids[side])
    for (const worker of workers) await worker.stop()
    return seconds
  }
  for (let round = 0; round < rounds; round++) {
    beside.one.take('before', await measure('before', [{ PENSTOCK_TRANSFERS: '8' }]))
    beside.two.take('before', await measure('before', [half, half]))
    const seconds = await measure('now', [all])
    beside.one.take('now', seconds)
    beside.two.take('now', seconds)
  }
  report('8 transfers, one worker beside one, seconds', beside.one, 1.26)
  report('8 transfers, one worker beside two, seconds', beside.two, 0.95)
}

/** Proportional resident memory of a process and all below it, in MB. */
async function memoryMb(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  const own = Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? Number.NaN) / 1024
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean).map(Number)
  const below = await Promise.all(children.map(memoryMb))
  return below.reduce((sum, each) => sum + each, own)
}

/** @param aim the required ratio; without it the figure is only reported */
function report(name: string, best: Record<Side, number>, aim?: number): void {
  const verdict = aim === undefined ? '' : best.before / best.now >= aim ? 'ok' : 'SHORT'
  say(line(name, best, verdict, aim === undefined ? '' : `≥ ${aim}`))
}

function line(name: string, { before, now }: Record<Side, number>, verdict: string, aim: string): string {
  const figures = [before.toFixed(2), now.toFixed(2), (before / now).toFixed(2), aim]
  return `${name.padEnd(52)}${figures.map((text) => text.padStart(11)).join('')}  ${verdict}`
}

function wanted(name: string): boolean {
  return name.includes(options.only)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
