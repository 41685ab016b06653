import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { withSession } from './harness/session.ts'
import { queuedAgain } from './harness/standings.ts'
import { localFolder, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** A worker that must stop while the database answers none of its statements. */

/** Longer than a worker waits for its transfers. */
const heldMs = 11_500

test('a worker that stops waits for every statement of its tasks, and gives back what it claims meanwhile', async (t) => {
  const fixture = await startFixture({ PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: '4' })
  t.after(fixture.close)
  await writeFile(join(fixture.folder, 'people.csv'), 'id\n1\n')
  const id = await fixture.connect(localFolder, { files: 'people.csv' }, localFolder, { subfolder: 'copies' })
  const worker = await fixture.startWorker()
  await withSession(fixture.service.databaseUrl, async (session) => {
    const { id: transferId } = await fixture.start(id)
    assert.equal((await fixture.ended(id, transferId)).status, 'succeeded')
    await session.query('begin')
    const { rows: tables } = await session.query<{ name: string }>(
      'select quote_ident(tablename) as name from pg_tables where schemaname = current_schema() order by 1',
    )
    // The worker is woken, and its claim finds the transfer once the locks are gone.
    await session.query(`lock table ${tables.map(({ name }) => name).join(', ')} in access exclusive mode`)
    await session.query(queuedAgain(), [transferId])
    await withSession(fixture.service.databaseUrl, (other) => other.query("select pg_notify('penstock', 'transfer:')"))
    const waiting = async () => {
      const { rows } = await session.query<{ query: string }>(
        "select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and application_name = 'penstock'",
      )
      return rows.map(({ query }) => query)
    }
    await until('statements of the tasks wait', async () => (await waiting()).length >= 6)
    const stopped = worker.stop()
    const begun = performance.now()
    await until('the worker has waited for long', () => performance.now() - begun > heldMs)
    await session.query('commit')
    await stopped
    const { rows } = await session.query('select status, attempt from transfers where id = $1', [transferId])
    assert.equal(rows[0]?.status, 'queued')
  })
  assert.doesNotMatch(fixture.service.logLines.join(''), /Cannot use a pool|terminated|failed; retrying|could not/)
})
