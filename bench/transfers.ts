/**
 * `npm run bench:transfers [-- --rows 1000000 --only csv]` measures transfers alternately in one run, and compares each figure
 * with its limit. A figure below its limit is reported but is not a failure.
 *
 * `npm run bench:transfers -- --only kills --files 200 --rows 1000000` moves 20 GB in 200 files, over two workers that are killed
 * every few seconds. It fails unless every row of every file arrives exactly once.
 */
import { chmod, link, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cleanupOfRun, startPostgres } from './environment.ts'
import { keepMirror, moveChanged } from './transfers/changed.ts'
import { startCountingClickHouse } from './transfers/counting-clickhouse.ts'
import { moveUnderKills, readWritten } from './transfers/kills.ts'
import { copyWithPostgres, hashWithDuckDb, startSink } from './transfers/limits.ts'
import { header, writeRows } from './transfers/rows.ts'
import { openFixture, type Worker } from './transfers/transfer-fixture.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    files: { type: 'string', default: '20' },
    'kill-seconds': { type: 'string', default: '8' },
  },
})
const rows = Number(options.rows)
const rounds = Number(options.rounds)

await using cleanup = cleanupOfRun()

const environment = await startPostgres(cleanup)
const folder = join(environment.directory, 'files')
await mkdir(folder)
await chmod(folder, 0o755)
const file = join(folder, 'people.csv')
// These scenarios read a table, or a separate file.
await writeRows(file, ['warehouse', 'changed'].includes(options.only) ? 1 : rows)
const { size } = await stat(file)
say(`${number(rows)} rows of 10 columns, ${number(size / 1e6)} MB; ${rounds} rounds, the best of each side counts.`)
const fixture = await openFixture(environment, folder)
cleanup.defer(() => fixture.close())

say(`\n${'Figure'.padEnd(58)}${['ours/s', 'limit/s', 'ratio', 'aim'].map((text) => text.padStart(12)).join('')}`)
if (wanted('csv → hash → csv')) await hashing()
if (wanted('csv → postgresql')) await loading()
if (wanted('csv → webhook')) await posting()
if (wanted('outcomes')) await recording()
if (wanted('two workers')) await sharing()
if (wanted('parts')) await dividing()
if (wanted('memory')) await measureMemory()
if (wanted('warehouse')) await warehousing()
if (options.only === 'changed') await sendingChanged()
// It takes long, and writes as many bytes as it reads.
if (options.only === 'kills') await killing()

/** Two identifiers that are normalised and hashed, compared with the same in SQL on one thread. */
async function hashing(): Promise<void> {
  const mapping = JSON.stringify({
    ...Object.fromEntries(
      ['id', 'first_name', 'last_name', 'city', 'zip', 'country', 'born', 'amount'].map((name) => [name, name]),
    ),
    email: { column: 'email', normalise: 'email', hash: 'sha256' },
    phone: { column: 'phone', normalise: 'phone-e164', hash: 'sha256' },
  })
  const id = await fixture.connectToFolder('people.csv', { subfolder: 'hashed', mapping })
  const worker = await fixture.startWorker()
  const out = join(folder, 'duckdb.csv')
  await compare(
    worker,
    'CSV → normalise and hash two identifiers → CSV',
    1,
    () => fixture.run(id),
    () => hashWithDuckDb(file, out),
  )
  await worker.stop()
  await rm(out, { force: true })
  await rm(join(folder, 'hashed'), { recursive: true, force: true })
}

async function loading(): Promise<void> {
  const id = await fixture.connectToTable('people.csv')
  const worker = await fixture.startWorker()
  await compare(
    worker,
    'CSV → PostgreSQL, insert',
    0.7,
    async () => {
      await fixture.emptyTable()
      return fixture.run(id)
    },
    async () => {
      await fixture.emptyTable()
      return copyWithPostgres(fixture.targetUrl, file)
    },
  )
  await worker.stop()
}

/** The same transfer with the outcome of each row, with its key, and without. */
async function recording(): Promise<void> {
  const plain = await fixture.connectToTable('people.csv')
  const recorded = await fixture.connectToTable('people.csv', await fixture.addOutcomes('id'))
  const worker = await fixture.startWorker()
  const after = async (id: string) => {
    await fixture.emptyTable()
    return fixture.run(id)
  }
  await compare(
    worker,
    'CSV → PostgreSQL with the outcome of each row',
    0.85,
    () => after(recorded),
    () => after(plain),
  )
  await worker.stop()
}

async function posting(): Promise<void> {
  const sink = await startSink()
  const id = await fixture.connectToWebhook('people.csv', sink.url)
  const worker = await fixture.startWorker()
  const best = await bestOf(() => fixture.run(id))
  row('CSV → webhook that answers at once, 1,000 rows a request', rows / best)
  await worker.stop()
  await sink.close()
}

/** The same eight transfers with one worker and with two. */
async function sharing(): Promise<void> {
  const part = Math.floor(rows / 8)
  await writeRows(join(folder, 'part.csv'), part)
  const ids = await Promise.all(
    Array.from({ length: 8 }, () => fixture.connectToFolder('part.csv', { subfolder: 'shared' })),
  )
  const one = await fixture.startWorker({ PENSTOCK_TRANSFERS: '1' })
  const single = await bestOf(() => fixture.runAll(ids))
  const two = await fixture.startWorker({ PENSTOCK_TRANSFERS: '1' })
  const both = await bestOf(() => fixture.runAll(ids))
  row('Two workers beside one, 8 transfers', (part * 8) / both, (part * 8) / single, single / both, 1.8)
  await one.stop()
  await two.stop()
}

/**
 * One transfer of many files, which are copies of the file of the other figures: one part at a time, two parts in one worker, and
 * one part in each of two workers.
 */
async function dividing(): Promise<void> {
  const count = Number(options.files)
  await mkdir(join(folder, 'many'))
  for (let i = 0; i < count; i++) await link(file, join(folder, 'many', `${String(i).padStart(3, '0')}.csv`))
  const id = await fixture.connectToFolder('many/*.csv', { subfolder: 'divided', severalFiles: true })
  const measured = async (workers: readonly Record<string, string>[]) => {
    const started: Worker[] = []
    for (const more of workers) started.push(await fixture.startWorker({ PENSTOCK_PART_MB: '1', ...more }))
    const best = await bestOf(async () => {
      await rm(join(folder, 'divided'), { recursive: true, force: true })
      return fixture.run(id)
    })
    let used = 0
    for (const { processes, stop } of started) {
      used += processes.runnerSeconds() + processes.supervisorSeconds()
      await stop()
    }
    say(`  ${workers.length} workers: ${(used / rounds).toFixed(1)} s of processors, with their start`)
    return best
  }
  const one = await measured([{ PENSTOCK_TRANSFERS: '1' }])
  const pair = await measured([{ PENSTOCK_TRANSFERS: '4', PENSTOCK_PARTS_PER_TRANSFER: '2' }])
  const two = await measured([{ PENSTOCK_TRANSFERS: '1' }, { PENSTOCK_TRANSFERS: '1' }])
  const all = rows * count
  row(`One transfer of ${count} files: two parts at once in one worker`, all / pair, all / one, one / pair, 1.8)
  row(`One transfer of ${count} files: two workers beside one`, all / two, all / one, one / two, 1.8)
  await rm(join(folder, 'divided'), { recursive: true, force: true })
}

/**
 * A file of which 0.1 % changed since the last transfer, compared with only reading and hashing it; and the size of the state.
 */
async function sendingChanged(): Promise<void> {
  const worker = await fixture.startWorker({ PENSTOCK_TRANSFERS: '1' })
  const moved = await moveChanged(fixture, worker, { folder, rows, rounds })
  const best = (of: (round: (typeof moved.rounds)[number]) => number) => Math.min(...moved.rounds.map(of))
  const [ours, limit] = [best(({ seconds }) => seconds), best((round) => round.limit)]
  row('Changed rows, 0.1 % of all, beside reading and hashing', rows / ours, rows / limit, limit / ours, 1 / 1.3)
  const million = (time: number) => `${((time / rows) * 1e6).toFixed(2)} s`
  say(
    `  processor time, 1,000,000 rows: runner ${million(best(({ runner }) => runner))}, supervisor ${million(best(({ supervisor }) => supervisor))}, alone ${million(best(({ alone }) => alone))}`,
  )
  for (const { seconds, limit: alone } of moved.rounds) say(`  ${seconds.toFixed(1)} s beside ${alone.toFixed(1)} s`)
  say(`  the first transfer, which sends everything: ${moved.first.toFixed(1)} s`)
  say(`  state: ${moved.bytesEach.toFixed(2)} bytes a row, ${number(moved.pages)} pages`)
  say(`  peak memory of the runner: ${number(moved.peak)} MB (idle ${number(moved.idle)})`)
  const mirrored = Math.min(rows, 500_000)
  const kept = await keepMirror(fixture, folder, mirrored)
  say(
    `  state of a mirror of ${number(mirrored)} rows: ${kept.records.toFixed(2)} bytes of records and ${kept.keys.toFixed(2)} of keys a row; ${kept.first.toFixed(2)} after the first transfer`,
  )
  await worker.stop()
}

/** One transfer of many files over two workers that are killed, and every row of it at the destination. */
async function killing(): Promise<void> {
  const count = Number(options.files)
  const everySeconds = Number(options['kill-seconds'])
  const moved = await moveUnderKills(fixture, { folder, file: 'people.csv', files: count, everySeconds })
  row(`One transfer of ${count} files under ${moved.kills} kills`, (rows * count) / moved.seconds)
  say(`  ${moved.movedAgain} parts had more than one attempt; the service counts ${number(moved.accepted)} records`)
  const written = await readWritten(moved.outFolder, rows)
  const sum = (BigInt(count) * BigInt(rows) * BigInt(rows + 1)) / 2n
  const all = rows * count
  const isExact =
    moved.accepted === all &&
    written.files === count &&
    written.rows === all &&
    written.sumOfIds === sum &&
    written.wrong.length === 0
  say(
    `  ${number(written.rows)} rows in ${written.files} files, ${number(written.bytes / 1e6)} MB, in ${number(moved.seconds)} s: ${isExact ? 'each row of each file once' : 'WRONG'}`,
  )
  for (const line of written.wrong.slice(0, 10)) say(`  ${line}`)
  if (!isExact) process.exitCode = 1
}

/** Memory of the runner above the memory of an idle runner, for the file and for a file that is ten times as long. */
async function measureMemory(): Promise<void> {
  await writeRows(join(folder, 'long.csv'), rows * 10)
  for (const name of ['people.csv', 'long.csv']) {
    const id = await fixture.connectToFolder(name, { subfolder: 'long' })
    const worker = await fixture.startWorker({ PENSTOCK_TRANSFERS: '1' })
    const idle = worker.processes.runnerMemoryMb()
    await fixture.run(id)
    const peak = worker.processes.runnerPeakMb()
    say(
      `${`Peak memory of the runner above idle, ${number(name === 'people.csv' ? rows : rows * 10)} rows`.padEnd(58)}${`${number(peak - idle)} MB`.padStart(12)}${''.padStart(24)}${'≤ 150 MB'.padStart(12)}  ${peak - idle <= 150 ? 'ok' : 'SHORT'}`,
    )
    await worker.stop()
    await rm(join(folder, 'long'), { recursive: true, force: true })
  }
  await rm(join(folder, 'long.csv'))
}

/**
 * From a table of PostgreSQL to a server that counts the rows that ClickHouse would insert; only once, because there may be many
 * rows.
 */
async function warehousing(): Promise<void> {
  await fixture.fillTable('crowd', rows)
  const sink = await startCountingClickHouse(header.split(','))
  const id = await fixture.connectToClickHouse('crowd', sink.address)
  const worker = await fixture.startWorker({ PENSTOCK_TRANSFERS: '1' })
  const { processes } = worker
  const idle = processes.runnerMemoryMb()
  const before = { runner: processes.runnerSeconds(), supervisor: processes.supervisorSeconds() }
  processes.resample()
  const seconds = await fixture.run(id)
  const used = {
    runner: processes.runnerSeconds() - before.runner,
    supervisor: processes.supervisorSeconds() - before.supervisor,
  }
  row('PostgreSQL → counting server (ClickHouse)', rows / seconds)
  const { counted } = sink
  const isExact = counted.rows === rows && counted.sumOfIds === (BigInt(rows) * BigInt(rows + 1)) / 2n
  say(`  ${number(counted.rows)} rows counted in ${number(counted.inserts)} inserts: ${isExact ? 'exact' : 'WRONG'}`)
  const quarters = processes.runnerMbByQuarter().map(number).join(', ')
  const [runnerPeak, supervisorPeak] = [processes.runnerPeakMb(), processes.supervisorPeakMb()]
  say(`  peak memory: runner ${number(runnerPeak)} MB (idle ${number(idle)}), supervisor ${number(supervisorPeak)} MB`)
  say(`  most memory of the runner in each quarter of the time: ${quarters} MB`)
  const million = (time: number) => `${((time / rows) * 1e6).toFixed(2)} s`
  say(`  processor time, 1,000,000 rows: runner ${million(used.runner)}, supervisor ${million(used.supervisor)}`)
  await worker.stop()
  await sink.close()
  await fixture.dropTable('crowd')
  if (!isExact) process.exitCode = 1
}

/** Also reports the processor time of the runner and of the worker that supervises it, which hardly depends on other work on the machine. */
async function compare(
  worker: Worker,
  name: string,
  aim: number,
  ours: () => Promise<number>,
  limit: () => Promise<number>,
): Promise<void> {
  let [best, bestLimit] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  const used = { runner: Number.POSITIVE_INFINITY, supervisor: Number.POSITIVE_INFINITY }
  for (let round = 0; round < rounds; round++) {
    const { processes } = worker
    const before = { runner: processes.runnerSeconds(), supervisor: processes.supervisorSeconds() }
    best = Math.min(best, await ours())
    used.runner = Math.min(used.runner, processes.runnerSeconds() - before.runner)
    used.supervisor = Math.min(used.supervisor, processes.supervisorSeconds() - before.supervisor)
    bestLimit = Math.min(bestLimit, await limit())
  }
  row(name, rows / best, rows / bestLimit, bestLimit / best, aim)
  for (const [of, time] of Object.entries(used)) {
    const name = `  processor time of the ${of}, 1,000,000 rows`
    say(`${name.padEnd(58)}${`${((time / rows) * 1e6).toFixed(2)} s`.padStart(12)}`)
  }
}

async function bestOf(run: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) best = Math.min(best, await run())
  return best
}

function row(name: string, ours: number, limit?: number, ratio?: number, aim?: number): void {
  const cells = [
    number(ours),
    limit === undefined ? '' : number(limit),
    ratio?.toFixed(2) ?? '',
    aim === undefined ? '' : `≥ ${aim.toFixed(2)}`,
  ]
  const verdict = ratio === undefined || aim === undefined ? '' : ratio >= aim ? 'ok' : 'SHORT'
  say(`${name.padEnd(58)}${cells.map((text) => text.padStart(12)).join('')}  ${verdict}`)
}

function wanted(name: string): boolean {
  return name.includes(options.only)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en')
}
