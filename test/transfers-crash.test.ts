import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { assertAccounted } from './harness/accounting.ts'
import {
  assertInFile,
  assertInTable,
  countFit,
  createPeopleTable,
  fitsFile,
  fitsTable,
  writePeople,
} from './harness/people.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { isUnderWay, type ProcessMill, startProcessMill } from './harness/worker-processes.ts'
import { type Random, seeded } from './simulation/random.ts'

/**
 * The truth about rows after a crash: workers are processes, and are killed while they work. `npm run test:crash` does
 * so with a million rows and a hundred kills; PENSTOCK_TEST_SEED repeats the choices of one run, though not its clock.
 */

const rows = Number(process.env.PENSTOCK_TEST_ROWS ?? 200_000)
const kills = Number(process.env.PENSTOCK_TEST_KILLS ?? 12)
const seed = Number(process.env.PENSTOCK_TEST_SEED ?? Date.now() % 1_000_000)

/** A transfer under way, and what must be true of it in the end. */
type Run = { connectionId: string; transferId: string; fit: number; assertArrived(): Promise<void> }

/** The same people into a table by their key, into one without a key, and into a file. */
async function startRuns(mill: ProcessMill): Promise<readonly Run[]> {
  await writePeople(join(mill.folder, 'people.csv'), rows)
  const begin = async (...to: [{ id: string }, Record<string, string>]) => {
    const connectionId = await mill.connect(localFolder, { files: 'people.csv' }, ...to)
    return { connectionId, transferId: (await mill.start(connectionId)).id }
  }
  await createPeopleTable(mill.target, 'keyed', true)
  await createPeopleTable(mill.target, 'added', false)
  const upsert = { table: 'keyed', writeMode: 'Upsert', keyColumns: 'id' }
  const ofTable = (table: string) => ({
    fit: countFit(rows, fitsTable),
    assertArrived: () => assertInTable(mill.target, table, rows),
  })
  return [
    { ...(await begin(postgresql, upsert)), ...ofTable('keyed') },
    { ...(await begin(postgresql, { table: 'added', writeMode: 'Insert' })), ...ofTable('added') },
    {
      ...(await begin(localFolder, { subfolder: 'out' })),
      fit: countFit(rows, fitsFile),
      assertArrived: async () => {
        const files = await readdir(join(mill.folder, 'out'))
        assert.equal(files.length, 1, `${files} is one whole file, and no part of another`)
        await assertInFile(join(mill.folder, 'out', files[0] ?? ''), rows)
      },
    },
  ]
}

/**
 * Kills the worker at so many moments while it moves rows, each time after another while. The while grows where nothing
 * gets on any more, and shrinks where the transfers would end too early for all kills.
 */
async function killAgainAndAgain(mill: ProcessMill, runs: readonly Run[], random: Random): Promise<number> {
  let mostMs = 300
  let readBefore = 0
  let killed = 0
  let worker = mill.spawnWorker()
  for (; killed < kills; killed++) {
    const before = await Promise.all(runs.map(({ transferId }) => mill.standing(transferId)))
    const left = runs.filter((_, i) => before[i] && isUnderWay(before[i]))
    if (left.length === 0) break
    await Promise.race(
      runs.flatMap(({ transferId }, i) => {
        const standing = before[i]
        return standing && isUnderWay(standing) ? [mill.takenUp(transferId, standing.attempt)] : []
      }),
    )
    await delay(random.int(mostMs))
    worker.signal('SIGKILL')
    await worker.ended
    worker = mill.spawnWorker()
    const now = await Promise.all(runs.map(({ transferId }) => mill.standing(transferId)))
    const read = now.reduce((sum, each) => sum + each.read, 0)
    const furthest = Math.max(...now.map((each) => each.read))
    if (furthest / rows > (killed + 1) / kills) mostMs = Math.max(50, mostMs / 2)
    else if (read === readBefore) mostMs = Math.min(10_000, mostMs * 1.5)
    readBefore = read
  }
  return killed
}

describe(`with ${kills} kills in ${rows} rows`, () => {
  test(`every good row is there once, and every row is accounted for (PENSTOCK_TEST_SEED=${seed})`, async (t: TestContext) => {
    const mill = await startProcessMill(t)
    const runs = await startRuns(mill)
    const killed = await killAgainAndAgain(mill, runs, seeded(seed))
    const attempts: number[] = []
    for (const { connectionId, transferId, fit, assertArrived } of runs) {
      const transfer = await mill.ended(connectionId, transferId)
      assert.deepEqual(transfer.error, null)
      assert.equal(transfer.status, 'partial')
      assert.deepEqual(transfer.records, {
        read: rows,
        sent: countFit(rows, fitsFile),
        accepted: fit,
        rejected: rows - fit,
      })
      await assertArrived()
      await assertAccounted(mill, transfer)
      attempts.push(transfer.attempt)
    }
    t.diagnostic(`${killed} kills; attempts: upsert, insert, folder: ${attempts.join(', ')}`)
    // One kill hits up to three transfers; each was hit in the midst of its run.
    assert(
      attempts.every((attempt) => attempt > 1),
      `attempts: ${attempts}`,
    )
    assert(attempts.reduce((sum, attempt) => sum + attempt - 1, 0) >= kills, `kills that hit a run: ${attempts}`)
  })
})
