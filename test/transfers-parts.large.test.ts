import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { assertAccounted } from './harness/accounting.ts'
import { runnersOf } from './harness/children.ts'
import { assertInvariants } from './harness/invariants.ts'
import type { Program } from './harness/process.ts'
import { seed } from './harness/seed.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { type ProcessFixture, startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/**
 * Many files that several worker processes share, which are killed while they work. PENSTOCK_TEST_SEED repeats the choices of
 * one run, though not its clock.
 */

const many = 200
const few = 30
/** The number of rows in that many files. */
const tables = 1_000
const rowsEach = 40
const kills = 6
/** A part is a file, however small. */
const env = { PENSTOCK_PART_MB: '0' }

/** Every seventeenth row has text instead of a number. */
const isBad = (number: number) => number % 17 === 0
const countBad = (files: number) => Math.floor((files * rowsEach) / 17)

async function writeFiles({ folder }: ProcessFixture, files: number): Promise<void> {
  await mkdir(join(folder, 'in'))
  for (let file = 0; file < files; file++) {
    const lines = Array.from({ length: rowsEach }, (_, i) => {
      const number = file * rowsEach + i + 1
      return `${number},${isBad(number) ? 'n/a' : number % 100}`
    })
    await writeFile(join(folder, 'in', `${String(file).padStart(3, '0')}.csv`), `id,amount\n${lines.join('\n')}\n`)
  }
}

const partsOf = async ({ service }: ProcessFixture, id: string) => {
  const { rows } = await service.database.pool.query<{ status: string; attempt: number }>(
    'select status, attempt from transfer_parts where transfer_id = $1 order by number',
    [id],
  )
  return rows
}

const countEnded = async (fixture: ProcessFixture, id: string): Promise<number> =>
  (await partsOf(fixture, id)).filter(({ status }) => status === 'succeeded').length

/** @param factor of the keys */
async function assertTable({ target }: ProcessFixture, files: number, factor = 1): Promise<void> {
  const { rows } = await target.query(
    'select count(*)::int as rows, count(distinct id)::int as ids, sum(amount)::int as sum, max(id) as last from many',
  )
  let sum = 0
  for (let number = 1; number <= files * rowsEach; number++) if (!isBad(number)) sum += number % 100
  const good = files * rowsEach - countBad(files)
  const last = files * rowsEach * factor
  assert.deepEqual(rows, [{ rows: good, ids: good, sum, last }])
}

/**
 * Transfers rows into a table with two workers that are killed, and fails unless each row exists once.
 * @param files number of files with `rowsEach` rows each
 * @param partsCount of the transfer
 * @param change made before each kill
 * @param times the number of kills
 * @param factor of the keys
 */
async function assertMovedOnce(
  t: TestContext,
  fixture: ProcessFixture,
  [source, settings]: [{ id: string }, Record<string, string>],
  files: number,
  partsCount: number,
  { change, times = kills, factor = 1 }: { change?: () => Promise<void>; times?: number; factor?: number } = {},
): Promise<void> {
  const random = seeded(seed)
  await fixture.target.query('create table many (id int not null, amount int)')
  const insert = { table: 'many', writeMode: 'Insert' }
  const connectionId = await fixture.connect(source, settings, postgresql, insert)
  const { id } = await fixture.start(connectionId)
  const workers: [Program, Program] = [fixture.spawnWorker(env), fixture.spawnWorker(env)]
  for (let killed = 0; killed < times; killed++) {
    const enough = Math.max(1, (killed * partsCount) / (times + 2))
    await until('parts are moved', async () => (await countEnded(fixture, id)) >= enough)
    await change?.()
    await delay(random.int(150))
    // One that has just started moves nothing yet.
    const busy = [0, 1].filter((at) => runnersOf(workers[at === 0 ? 0 : 1].pid).length > 0)
    const which = busy[random.int(2) % busy.length] ?? 0
    const worker = workers[which === 0 ? 0 : 1]
    if (killed % 3 === 2) {
      for (const pid of runnersOf(worker.pid)) process.kill(pid, 'SIGKILL')
      continue
    }
    worker.signal('SIGKILL')
    await worker.ended
    workers[which === 0 ? 0 : 1] = fixture.spawnWorker(env)
  }
  const transfer = await fixture.ended(connectionId, id)
  assert.deepEqual([transfer.status, transfer.error, transfer.progress], ['partial', null, 1])
  const { read, accepted, rejected } = transfer.records
  const good = files * rowsEach - countBad(files)
  // Rows that came meanwhile are all bad.
  if (!change) assert.equal(read, files * rowsEach)
  assert.deepEqual([accepted, read - accepted], [good, rejected])
  await assertTable(fixture, files, factor)
  await assertAccounted(fixture, transfer)
  const { rows: kept } = await fixture.service.database.pool.query(
    'select sum(count)::int as rejects, count(distinct number)::int as numbers from rejects where transfer_id = $1',
    [id],
  )
  assert.deepEqual(kept, [{ rejects: rejected, numbers: rejected }])
  const parts = await partsOf(fixture, id)
  assert.equal(parts.length, partsCount)
  const again = parts.filter(({ attempt }) => attempt > 1).length
  assert.ok(again > 0 && again <= times * 5, `${again} parts were moved again`)
  t.diagnostic(`${again} of ${partsCount} parts had more than one attempt`)
  await assertInvariants(fixture.service.database.pool)
}

describe('a transfer in parts that workers share', () => {
  test(`with ${kills} kills, every row of ${many} files is there once (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
    const fixture = await startProcessFixture(t, env)
    await writeFiles(fixture, many)
    await assertMovedOnce(t, fixture, [localFolder, { files: 'in/*.csv' }], many, many)
  })

  test(`with 3 kills, every row of a table that changes is there once (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
    const fixture = await startProcessFixture(t, env)
    const { target } = fixture
    // Keys have gaps, in which rows come and go while it is read.
    await target.query(`create table read (id int primary key, amount text)`)
    await target.query(
      `insert into read select number * 10, case when number % 17 = 0 then 'n/a' else (number % 100)::text end
         from generate_series(1, $1::int) as numbers (number)`,
      [tables * rowsEach],
    )
    await target.query('analyze read')
    // A row that is added meanwhile is in at most one part.
    const change = async () => {
      await target.query(`insert into read select id + 3, 'n/a' from read where id % 970 = 0 on conflict do nothing`)
      await target.query('delete from read where id % 10 = 3 and id % 7 = 0')
    }
    await assertMovedOnce(t, fixture, [postgresql, { table: 'read' }], tables, 100, { change, times: 3, factor: 10 })
  })

  test('writes a file for each part', async (t) => {
    const fixture = await startProcessFixture(t, env)
    await writeFiles(fixture, 10)
    const settings = { subfolder: 'out', severalFiles: true }
    const connectionId = await fixture.connect(localFolder, { files: 'in/*.csv' }, localFolder, settings)
    fixture.spawnWorker(env)
    const { id } = await fixture.start(connectionId)
    const transfer = await fixture.ended(connectionId, id)
    assert.deepEqual([transfer.status, transfer.records.accepted], ['succeeded', 10 * rowsEach])
    const names = await readdir(join(fixture.folder, 'out'))
    assert.equal(names.length, 10, names.join(', '))
    const ids: number[] = []
    for (const name of names) {
      const lines = (await readFile(join(fixture.folder, 'out', name), 'utf8')).trim().split(/\r?\n/)
      assert.equal(lines[0], 'id,amount')
      ids.push(...lines.slice(1).map((line) => Number(line.split(',')[0])))
    }
    const expected = Array.from({ length: 10 * rowsEach }, (_, i) => i + 1)
    assert.deepEqual(
      ids.sort((a, b) => a - b),
      expected,
    )
    await assertAccounted(fixture, transfer)
  })

  test('continues without a worker that sleeps, which changes nothing when it wakes', async (t) => {
    const fixture = await startProcessFixture(t, env)
    await writeFiles(fixture, few)
    await fixture.target.query('create table many (id int not null, amount int)')
    const insert = { table: 'many', writeMode: 'Insert' }
    const connectionId = await fixture.connect(localFolder, { files: 'in/*.csv' }, postgresql, insert)
    const { id } = await fixture.start(connectionId)
    const sleeper = fixture.spawnWorker(env)
    await until('parts are moved', async () => (await countEnded(fixture, id)) > 3)
    sleeper.signal('SIGSTOP')
    const asleep = (await partsOf(fixture, id)).filter(({ status }) => status === 'running').length
    fixture.spawnWorker(env)
    const transfer = await fixture.ended(connectionId, id)
    sleeper.signal('SIGCONT')
    assert.equal(transfer.status, 'partial')
    if (asleep > 0) await until('it knows', () => /lost to another worker|could not continue/.test(sleeper.said.stderr))
    assert.deepEqual(await fixture.get(connectionId, id), transfer)
    await assertTable(fixture, few)
    await assertAccounted(fixture, transfer)
    await assertInvariants(fixture.service.database.pool)
  })
})
