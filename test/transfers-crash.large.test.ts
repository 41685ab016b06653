import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { outcomesConnectorId } from '@penstock/wire'
import { crashRetriesMax } from '../packages/server/src/transfers/supervisor/crashes.ts'
import { assertAccounted } from './harness/accounting.ts'
import { runnersOf } from './harness/children.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import {
  assertInFile,
  assertInTable,
  countFit,
  createPeopleTable,
  fitsFile,
  fitsTable,
  writePeople,
} from './harness/people.ts'
import { seed } from './harness/seed.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { isActive, type ProcessFixture, startProcessFixture } from './harness/worker-processes.ts'
import { type Random, seeded } from './simulation/random.ts'

/**
 * Correctness of rows after a crash: workers and their runners are processes, and are killed while they work. `npm run
 * test:crash` does so with a million rows and a hundred kills. PENSTOCK_TEST_SEED repeats the choices of a run, but not its
 * timing.
 */

const rows = Number(process.env.PENSTOCK_TEST_ROWS ?? 150_000)
const kills = Number(process.env.PENSTOCK_TEST_KILLS ?? 9)

/** An active transfer, and what must be true of it in the end. */
type Run = { connectionId: string; transferId: string; fit: number; assertArrived(): Promise<void> }

/** The destination of the people. */
type Goal = { to: { id: string }; settings: Record<string, string>; fits: typeof fitsFile; arrived: Arrived }
type Arrived = (fixture: ProcessFixture, transferId: string) => Promise<void>

const goals: Record<string, Goal> = {
  'a table by its key': {
    to: postgresql,
    settings: { table: 'keyed', writeMode: 'Upsert', keyColumns: 'id' },
    fits: fitsTable,
    arrived: ({ target }) => assertInTable(target, 'keyed', rows),
  },
  'a table without a key': {
    to: postgresql,
    settings: { table: 'added', writeMode: 'Insert' },
    fits: fitsTable,
    arrived: ({ target }) => assertInTable(target, 'added', rows),
  },
  'a table, with the outcome of each row': {
    to: postgresql,
    settings: { table: 'recorded', writeMode: 'Insert', outcomes: 'Default', outcomeColumns: 'id' },
    fits: fitsTable,
    async arrived(fixture, transferId) {
      await assertInTable(fixture.target, 'recorded', rows)
      await assertOutcomes(fixture, transferId)
    },
  },
  'a file': {
    to: localFolder,
    settings: { subfolder: 'out' },
    fits: fitsFile,
    arrived: async ({ folder }) => {
      const files = await readdir(join(folder, 'out'))
      assert.equal(files.length, 1, `${files} is one whole file, and no part of another`)
      await assertInFile(join(folder, 'out', files[0] ?? ''), rows)
    },
  },
}

/** Each row has one outcome, which is the true one. */
async function assertOutcomes(fixture: ProcessFixture, transferId: string): Promise<void> {
  const table = { table: 'outcomes', createTable: true }
  const id = await fixture.connect({ id: outcomesConnectorId }, { startAt: 'oldest' }, postgresql, table)
  const { id: reading } = await fixture.start(id)
  const { status, error } = await fixture.ended(id, reading)
  assert.equal(status, 'succeeded', JSON.stringify(error))
  const { rows: found } = await fixture.target.query(
    `select outcome, count(*)::int as count, count(distinct row)::int as distinct, min(row)::int as min, max(row)::int as max,
       count(*) filter (where (key ->> 'id')::bigint <> row)::int as wrong
     from outcomes where transfer_id = $1 group by outcome order by outcome`,
    [transferId],
  )
  const fit = countFit(rows, fitsTable)
  assert.deepEqual(
    found.map(({ outcome, count, distinct, wrong }) => [outcome, count, distinct, wrong]),
    [
      ['accepted', fit, fit, 0],
      ['rejected', rows - fit, rows - fit, 0],
    ],
  )
  assert.deepEqual([Math.min(...found.map(({ min }) => min)), Math.max(...found.map(({ max }) => max))], [1, rows])
}

async function startRuns(fixture: ProcessFixture, names: readonly string[]): Promise<readonly Run[]> {
  await writePeople(join(fixture.folder, 'people.csv'), rows)
  await createPeopleTable(fixture.target, 'keyed', true)
  await createPeopleTable(fixture.target, 'added', false)
  await createPeopleTable(fixture.target, 'recorded', false)
  const { caller, accountId } = fixture
  await caller.addConnectors(accountId, connectorBySlug('outcomes'))
  await caller.expect(
    caller.call('configureConnector', { accountId, id: outcomesConnectorId, body: { secretConfig: {} } }),
  )
  const runs: Run[] = []
  for (const name of names) {
    const goal = goals[name]
    assert(goal)
    const connectionId = await fixture.connect(localFolder, { files: 'people.csv' }, goal.to, goal.settings)
    const { id: transferId } = await fixture.start(connectionId)
    runs.push({
      connectionId,
      transferId,
      fit: countFit(rows, goal.fits),
      assertArrived: () => goal.arrived(fixture, transferId),
    })
  }
  return runs
}

/** How often a worker was killed with all its child processes, and how often only its runners, which move the rows. */
const killsOf = { worker: 0, runners: 0 }

/** Runners that die too often before anything is confirmed end a transfer, as they should. Only Linux lists runners. */
async function mayLoseRunners(fixture: ProcessFixture, runs: readonly Run[]): Promise<boolean> {
  const now = await Promise.all(runs.map(({ transferId }) => fixture.standing(transferId)))
  const isTurn = killsOf.runners < killsOf.worker
  return isTurn && process.platform === 'linux' && now.every(({ crashes }) => crashes < crashRetriesMax)
}

/**
 * Kills a worker and its runners by turns while they move rows, each time after another delay. The delay grows if
 * nothing is confirmed any more, and shrinks where the transfers would end too early for all kills.
 */
async function killAgainAndAgain(fixture: ProcessFixture, runs: readonly Run[], random: Random): Promise<number> {
  let mostMs = 300
  let readBefore = 0
  let killed = 0
  let worker = fixture.spawnWorker()
  for (; killed < kills; killed++) {
    const before = await Promise.all(runs.map(({ transferId }) => fixture.standing(transferId)))
    const left = runs.filter((_, i) => before[i] && isActive(before[i]))
    if (left.length === 0) break
    const claims = runs.flatMap(({ transferId }, i) => {
      const standing = before[i]
      return standing && isActive(standing) ? [fixture.claimed(transferId, standing.attempt)] : []
    })
    // The first kill hits all of them, because the fastest could end before the second.
    if (killed === 0) await Promise.all(claims)
    else {
      await Promise.race(claims)
      await delay(random.int(mostMs))
    }
    if (await mayLoseRunners(fixture, runs)) {
      for (const pid of runnersOf(worker.pid)) process.kill(pid, 'SIGKILL')
      killsOf.runners++
    } else {
      worker.signal('SIGKILL')
      await worker.ended
      worker = fixture.spawnWorker()
      killsOf.worker++
    }
    const now = await Promise.all(runs.map(({ transferId }) => fixture.standing(transferId)))
    const read = now.reduce((sum, each) => sum + each.read, 0)
    const furthest = Math.max(...now.map((each) => each.read))
    if (furthest / rows > (killed + 1) / kills) mostMs = Math.max(5, mostMs / 2)
    else if (read === readBefore) mostMs = Math.min(10_000, mostMs * 1.5)
    readBefore = read
  }
  return killed
}

const names = Object.keys(goals)
const isShort = rows <= 200_000

// One kill hits all active transfers. The long test kills each separately.
for (const together of isShort ? [names] : names.map((name) => [name])) {
  test(`with ${kills} kills in ${rows} rows on their way to ${together.join(', ')}, every good one is there once, and every one is accounted for (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
    const fixture = await startProcessFixture(t)
    const runs = await startRuns(fixture, together)
    const killed = await killAgainAndAgain(fixture, runs, seeded(seed))
    const attempts: number[] = []
    for (const { connectionId, transferId, fit, assertArrived } of runs) {
      const transfer = await fixture.ended(connectionId, transferId)
      assert.deepEqual([transfer.status, transfer.error], ['partial', null])
      const sent = countFit(rows, fitsFile)
      assert.deepEqual(transfer.records, { read: rows, sent, accepted: fit, rejected: rows - fit })
      await assertArrived()
      await assertAccounted(fixture, transfer)
      attempts.push(transfer.attempt)
    }
    t.diagnostic(`${killed} kills (${JSON.stringify(killsOf)} so far); attempts: ${attempts.join(', ')}`)
    // Each was hit while it ran, and all together nearly as often as a worker was killed.
    assert(
      attempts.every((attempt) => attempt > 1),
      `attempts: ${attempts}`,
    )
    const hits = attempts.reduce((sum, attempt) => sum + attempt - 1, 0)
    assert(hits >= kills * 0.9, `${hits} kills hit a transfer`)
  })
}
