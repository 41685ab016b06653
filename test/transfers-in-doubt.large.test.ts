import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { assertAccounted } from './harness/accounting.ts'
import { assertInvariants } from './harness/invariants.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { type ProcessFixture, startProcessFixture } from './harness/worker-processes.ts'

/** A worker dies after the destination has committed a batch and before that is stored, and the transfer ends without another attempt. */

const files = 4
const rowsEach = 40

const ways = [
  { way: 'whole', env: {} },
  { way: 'in parts', env: { PENSTOCK_PART_MB: '0' } },
]

async function countRows({ target }: ProcessFixture): Promise<number> {
  const { rows } = await target.query<{ count: number }>('select count(*)::int as count from many')
  return rows[0]?.count ?? 0
}

/** Starts a transfer, and kills its worker when the destination has rows that no count has. */
async function killInDoubt(fixture: ProcessFixture, env: Record<string, string>) {
  const { pool } = fixture.service.database
  await mkdir(join(fixture.folder, 'in'))
  for (let file = 0; file < files; file++) {
    const lines = Array.from({ length: rowsEach }, (_, i) => `${file * rowsEach + i + 1}\n`)
    await writeFile(join(fixture.folder, 'in', `${file}.csv`), `id\n${lines.join('')}`)
  }
  await fixture.target.query('create table many (id int not null)')
  const insert = { table: 'many', writeMode: 'Insert' }
  const connectionId = await fixture.connect(localFolder, { files: 'in/*.csv' }, postgresql, insert)
  const { id } = await fixture.start(connectionId)
  const locker = await pool.connect()
  try {
    await locker.query('begin')
    await locker.query('lock table ledger in share row exclusive mode')
    const worker = fixture.spawnWorker(env)
    const waiting = `from pg_locks where relation = 'ledger'::regclass and not granted`
    await until('a confirmation waits for the lock', async () => {
      const { rowCount } = await pool.query(`select ${waiting}`)
      return rowCount && (await countRows(fixture)) > 0
    })
    worker.signal('SIGKILL')
    await worker.ended
    // The statements of the dead worker would still be done.
    await until('no statement waits for the lock', async () => {
      const { rowCount } = await pool.query(`select pg_terminate_backend(pid) ${waiting}`)
      return rowCount === 0
    })
  } finally {
    await locker.query('rollback')
    locker.release()
  }
  return { connectionId, id }
}

describe('rows that a dead worker delivered and did not count', () => {
  for (const { way, env } of ways) {
    for (const action of ['disable', 'cancel'] as const) {
      test(`are told when a transfer that runs ${way} ends by ${action}`, async (t) => {
        const fixture = await startProcessFixture(t, env)
        const { caller, accountId } = fixture
        const { connectionId, id } = await killInDoubt(fixture, env)
        const of = { accountId, id: connectionId }
        if (action === 'disable')
          await caller.expect(caller.call('updateConnectionStatus', { ...of, body: { action } }))
        else await caller.expect(caller.call('cancelTransfer', { ...of, transferId: id }))
        fixture.spawnWorker(env)
        const transfer = await fixture.ended(connectionId, id)
        const { rows: lines } = await fixture.service.database.pool.query<{ text: string }>(
          `select line->>'text' as text from transfer_logs, jsonb_array_elements(lines) as line where transfer_id = $1`,
          [id],
        )
        const told = /The destination may also have (\d+) records of unanswered batches, which are not counted\./
        const texts = action === 'disable' ? [transfer.error?.message ?? ''] : lines.map(({ text }) => text)
        const inDoubt = Number(texts.map((text) => told.exec(text)?.[1]).find((count) => count !== undefined))
        const present = await countRows(fixture)
        assert(present > transfer.records.accepted)
        assert(
          present <= transfer.records.accepted + inDoubt,
          `${present} rows, ${inDoubt} in doubt: ${texts.join('\n')}`,
        )
        await assertAccounted(fixture, transfer)
        await assertInvariants(fixture.service.database.pool)
      })
    }
  }
})
