import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { limits } from '@penstock/wire'
import { operatorActor } from '../packages/server/src/audit/record.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { setLimit } from '../packages/server/src/organizations/limits.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { startDue } from '../packages/server/src/transfers/supervisor/due-schedules.ts'
import { purge } from '../packages/server/src/worker/purge.ts'
import { type Engine, people, startEngine, taken } from './harness/engine.ts'
import { engineOf } from './harness/engine-of.ts'
import { callerOf, connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { startServiceOn, startTestService } from './harness/service.ts'
import { claimed, queuedAgain } from './harness/standings.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** The data that an organization keeps and moves is bounded, and a transfer that has begun is not harmed. */

const mib = 1024 ** 2

const organizationOf = async ({ sql, accountId }: Engine) =>
  String((await sql('select organization_id as id from accounts where id = $1', accountId))[0]?.id)

describe('the limits of an organization', () => {
  let engine: Engine
  let organizationId: string
  before(async () => {
    engine = await startEngine()
    const { quotas, transfers } = engine.service.config
    engine.settings.limits = { quotas, transfers, rejectBytesMax: mib }
    organizationId = await organizationOf(engine)
  })
  after(async () => {
    await assertInvariants(engine.service.database.pool)
    await engine.close()
  })
  const limit = (name: string, value: number | null) =>
    engine.service.database.transaction((tx) => setLimit(tx, { organizationId, name, value }, operatorActor()))
  const logOf = async (id: string, transferId: string) => {
    const { accountId, caller } = engine
    const lines = await caller.expect(caller.call('listTransferLog', { accountId, id, transferId }))
    return lines.map(({ text }) => text).join('\n')
  }
  const rejectAll = (reason = 'It is not wanted.') => ({
    open: () => ({
      deliver: async (batch: Parameters<typeof taken>[0]) =>
        taken(batch, { rejected: batch.rows.slice(1).map((_, i) => ({ index: i + 1, reason })) }),
    }),
  })
  const rejectsOf = async (transferId: string) => {
    const [row] = await engine.sql<{ kept: number; counted: number; values: number; bytes: number; stored: number }>(
      `select count(*)::int as kept, sum(count)::int as counted, count(sealed)::int as values,
         (select kept_bytes::int from transfers where id = $1) as bytes,
         coalesce(sum(octet_length(record::text) + coalesce(octet_length(sealed), 0) + octet_length(reason_sealed)), 0)::int as stored
       from rejects where transfer_id = $1`,
      transferId,
    )
    assert(row)
    return row
  }

  test('rows of a month: a transfer that runs ends, and no other one starts, whatever would start it', async () => {
    engine.sides.source = people(25)
    engine.sides.destination = {}
    const id = await engine.connectSides()
    await limit('rows-per-month', 10)
    const first = await engine.move(id)
    assert.deepEqual([first.status, first.records.accepted], ['succeeded', 25])
    const { caller, accountId } = engine
    const refused = await caller.call('startTransfer', { accountId, id, body: {} })
    assert.deepEqual([refused.status, refused.error], [409, 'quota_exceeded'])
    assert.match(
      refused.details[0]?.message ?? '',
      /delivered 25 of 10 rows this month \(UTC\); the command `org limit/,
    )
    await caller.expect(caller.call('setSchedule', { accountId, id, body: { cron: '0 6 * * *' } }))
    await engine.sql(`update schedules set next_time = now() - interval '1 minute' where connection_id = $1`, id)
    const deps = { ...engineOf(engine.service), settings: engine.settings }
    await startDue(deps, createLogger('silent'))
    const transfers = () => engine.sql('select id from transfers where connection_id = $1', id)
    assert.equal((await transfers()).length, 1)
    const moved = await engine.sql('select next_time > now() as later from schedules where connection_id = $1', id)
    assert.deepEqual(moved, [{ later: true }])
    await engine.sql(`update organization_rows set month = '2020-01'`)
    assert.equal((await caller.call('startTransfer', { accountId, id, body: {} })).status, 202, 'another month')
    await engine.work()
    await limit('rows-per-month', null)
  })

  test('rows of a month: concurrent transfers are counted exactly', async () => {
    engine.sides.source = people(25)
    engine.sides.destination = {}
    const counted = async () => {
      const [row] = await engine.sql(`
        select (select coalesce(sum(rows), 0)::int from organization_rows where month = to_char(now() at time zone 'UTC', 'YYYY-MM')) as counter,
          (select coalesce(sum(accepted), 0)::int from ledger where not test and to_char(day, 'YYYY-MM') = to_char(now() at time zone 'UTC', 'YYYY-MM')) as ledger`)
      return row as { counter: number; ledger: number }
    }
    const before = await counted()
    const ids = await Promise.all(Array.from({ length: 8 }, () => engine.connectSides()))
    for (const id of ids) await engine.start(id)
    await Promise.all([engine.work(), engine.work(), engine.work(), engine.work()])
    const after = await counted()
    assert.equal(after.counter - before.counter, 8 * 25)
    assert.equal(after.ledger - before.ledger, 8 * 25)
  })

  test('requests of a minute: of all clients of the organization together, in each process, immediately after a change', async () => {
    const { caller } = engine
    const list = () => caller.call('listAccounts')
    assert.equal((await list()).status, 200)
    await limit('requests-per-minute', 3)
    const limited = await until('the limit has an effect', async () => {
      const answer = await list()
      return answer.status === 429 ? answer : undefined
    })
    assert.equal(limited.error, 'rate_limited')
    assert.match(limited.headers['retry-after'] ?? '', /^(?:[1-9]|[1-5]\d|60)$/)
    assert.match(
      limited.details[0]?.message ?? '',
      /sent 3 requests in this minute; the command `org limit requests-per-minute`/,
    )
    const other = callerOf(engine.service, await engine.service.addOrganization())
    for (let i = 0; i < 6; i++) assert.equal((await other.call('listAccounts')).status, 200, 'of another organization')
    await limit('requests-per-minute', null)
    await until('the limit is gone', async () => (await list()).status === 200)
  })

  test('concurrent transfers wait for a place, and are not refused', async () => {
    engine.sides.source = people(3)
    engine.sides.destination = {}
    const [one, two] = [await engine.connectSides(), await engine.connectSides()]
    await limit('transfers', 1)
    const first = await engine.start(one)
    await engine.sql(claimed('id = $1', { worker: `'other'` }), first.id)
    const second = await engine.start(two)
    await engine.work()
    assert.equal((await engine.get(two, second.id)).status, 'queued')
    await limit('transfers', 2)
    await engine.work()
    assert.equal((await engine.get(two, second.id)).status, 'succeeded')
    await limit('transfers', null)
    await engine.sql(queuedAgain(), first.id)
    await engine.work()
    assert.equal((await engine.get(one, first.id)).status, 'succeeded')
  })

  test('values of rejected records: of a record and of a transfer; counts and reasons stay exact', async () => {
    const rows = 200
    // Quoted in each record: 20 KB.
    const huge = 'x'.repeat(20_000)
    engine.sides.source = function* () {
      for (let n = 0; n < rows; n += 10) {
        const some = Array.from({ length: 10 }, (_, i) => [n + i + 1, huge])
        yield { columns: ['number', 'name'], rows: some, bytes: 10, checkpoint: n }
      }
    }
    engine.sides.destination = rejectAll('No. '.repeat(5_000))
    const id = await engine.connectSides()
    const transfer = await engine.move(id)
    assert.deepEqual([transfer.status, transfer.records.rejected], ['partial', 180])
    const kept = await rejectsOf(transfer.id)
    assert.deepEqual([kept.kept, kept.counted], [180, 180])
    assert(kept.values > 10 && kept.values < 60, `${kept.values} with values`)
    assert(kept.bytes < mib + 180 * 2_000 && kept.stored < kept.bytes + 180 * 100, `${kept.bytes}, ${kept.stored}`)
    assert.match(
      await logOf(id, transfer.id),
      /Values of further rejected records are not kept, .*a transfer keeps at most 1 MiB .*PENSTOCK_REJECTS_MB.* All are counted\./,
    )
    const { caller, accountId } = engine
    const query = { size: 500 }
    const shown = await caller.expect(caller.call('listRejects', { accountId, id, transferId: transfer.id, query }))
    assert.equal(shown.length, 180)
    for (const { reason, row } of shown) assert.deepEqual([reason.startsWith('No. No.'), row === null], [true, false])
    const replayable = await caller.expect(caller.call('getReplayable', { accountId, id, transferId: transfer.id }))
    assert.deepEqual(replayable, { replayable: kept.values, replayed: 0, notKept: 180 - kept.values })
  })

  test('values of rejected records of the organization: beyond them some reasons are kept, and a purge frees the place', async () => {
    engine.sides.source = people(2_000)
    engine.sides.destination = rejectAll()
    const id = await engine.connectSides()
    await limit('rejects-mb', 1)
    const full = await engine.move(id)
    const kept = await rejectsOf(full.id)
    assert.deepEqual([full.records.rejected, kept.kept], [1_800, limits.rejectsBeyondQuotaMax])
    assert.equal(kept.values, 0, 'another test has filled it')
    assert.match(await logOf(id, full.id), /the organization keeps at most 1 MiB .*`org limit rejects-mb`/)
    await engine.sql(`update transfers set finished_time = finished_time - interval '40 days' where rejected > 0`)
    await purge(engine.service.database, { rejectDays: 30, ledgerDays: 400, auditDays: 0 })
    assert.deepEqual(await engine.sql('select id from transfers where kept_bytes > 0'), [])
    const again = await engine.move(id, {})
    assert.equal((await rejectsOf(again.id)).values, 1_000, 'as many as are kept of one transfer')
    await limit('rejects-mb', null)
  })
})

test('uploads of an organization: files and bytes, over its sub-accounts and two processes, also concurrently', async () => {
  const env = {
    PENSTOCK_MASTER_KEY: generateMasterKey(),
    PENSTOCK_UPLOAD_MB: '1',
    PENSTOCK_QUOTA_UPLOADS_MB: '3',
    PENSTOCK_QUOTA_UPLOAD_FILES: '5',
  }
  const one = await startTestService(env)
  const two = await startServiceOn(one.databaseUrl, env)
  try {
    const organization = await one.addOrganization()
    const callers = [callerOf(one, organization), callerOf(two, organization)] as const
    const accounts = await Promise.all([callers[0].addAccount(), callers[0].addAccount()])
    const upload = (n: number, bytes: number) =>
      callers[n % 2 === 0 ? 0 : 1].call('createUpload', {
        accountId: accounts[n % 3 === 0 ? 0 : 1]?.id ?? '',
        query: { name: 'a.csv' },
        body: new Uint8Array(randomBytes(bytes)),
      })
    const large = await Promise.all(Array.from({ length: 8 }, (_, n) => upload(n, mib)))
    assert.deepEqual(large.map(({ status }) => status).sort(), [201, 201, 201, 409, 409, 409, 409, 409])
    const refused = large.find(({ status }) => status === 409)
    assert.equal(refused?.error, 'quota_exceeded')
    assert.match(
      refused?.details[0]?.message ?? '',
      /the organization keeps at most 3 MiB of uploaded files; PENSTOCK_QUOTA_UPLOADS_MB sets it: delete files/,
    )
    await one.database.pool.query('update uploads set size_bytes = 1')
    const small = await Promise.all(Array.from({ length: 8 }, (_, n) => upload(n, 10)))
    assert.deepEqual(small.map(({ status }) => status).sort(), [201, 201, 409, 409, 409, 409, 409, 409])
    assert.match(small.find(({ status }) => status === 409)?.details[0]?.message ?? '', /at most 5 uploaded files/)
    const other = callerOf(one, await one.addOrganization())
    const { id: accountId } = await other.addAccount()
    const body = new Uint8Array(randomBytes(mib))
    assert.equal((await other.call('createUpload', { accountId, query: { name: 'a.csv' }, body })).status, 201)
  } finally {
    await two.close()
    await one.close()
  }
})

describe('hostile sources', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture({ PENSTOCK_REJECTS_MB: '1' })
    await fixture.startWorker()
    await fixture.caller.addConnectors(fixture.accountId, connectorBySlug('file-upload'))
  })
  after(async () => {
    await assertInvariants(fixture.service.database.pool)
    await fixture.close()
  })

  test('a compressed file whose rows are all rejected leaves no more than the bound', async () => {
    const rows = Array.from({ length: 9_000 }, (_, n) => `none,${String(n).padStart(6, '0').repeat(1_000)}\n`).join('')
    const body = new Uint8Array(gzipSync(`number,email\n1,ada@example.com\n${rows}`))
    const { caller, accountId } = fixture
    const { id: upload } = await caller.expect(
      caller.call('createUpload', { accountId, query: { name: 'a.csv.gz' }, body }),
    )
    await fixture.target.query('create table bombed (number integer, email text)')
    const id = await fixture.connect(connectorBySlug('file-upload'), { upload }, postgresql, { table: 'bombed' })
    const transfer = await fixture.ended(id, (await fixture.start(id)).id)
    assert.deepEqual([transfer.status, transfer.records.rejected], ['partial', 9_000], JSON.stringify(transfer.error))
    const { rows: stored } = await fixture.service.database.pool.query(
      `select count(*)::int as kept, sum(pg_column_size(r.*))::int as bytes from rejects r where transfer_id = $1`,
      [transfer.id],
    )
    assert.equal(stored[0].kept, 9_000)
    // Only the reasons are about 200 bytes each.
    assert(stored[0].bytes < 6 * mib, `${body.length} bytes left ${stored[0].bytes}`)
  })

  test('digests of sent rows are bounded: the transfer fails with words, and no row is lost', async () => {
    const { caller, accountId, service } = fixture
    const count = 240_000
    const lines = Array.from({ length: count }, (_, n) => `${n},name ${n}\n`).join('')
    await writeFile(join(fixture.folder, 'many.csv'), `id,name\n${lines}`)
    await fixture.target.query('create table many (id int primary key, name text)')
    const settings = { table: 'many', writeMode: 'Upsert', keyColumns: 'id', sendRows: 'Changed' }
    const id = await fixture.connect(localFolder, { files: 'many.csv' }, postgresql, settings)
    const { rows } = await service.database.pool.query('select organization_id as id from accounts where id = $1', [
      accountId,
    ])
    const limit = (value: number | null) =>
      service.database.transaction((tx) =>
        setLimit(tx, { organizationId: rows[0].id, name: 'digests-mb', value }, operatorActor()),
      )
    await limit(1)
    const full = await fixture.ended(id, (await fixture.start(id)).id)
    assert.deepEqual([full.status, full.error?.code], ['failed', 'digests_full'], JSON.stringify(full.error))
    assert.match(full.error?.message ?? '', /limit of 1 MiB for remembered rows.*`org limit digests-mb`/)
    assert(full.records.accepted > 0 && full.records.accepted < count)
    const size = await service.database.pool.query(
      'select coalesce(sum(octet_length(digests)), 0)::int as bytes from connection_digests where connection_id = $1',
      [id],
    )
    assert(size.rows[0].bytes < 3 * mib, `${size.rows[0].bytes} bytes of digests`)
    await limit(null)
    const rest = await fixture.ended(id, (await fixture.start(id)).id)
    assert.equal(rest.status, 'succeeded')
    assert.equal(full.records.accepted + rest.records.accepted >= count, true)
    const { rows: there } = await fixture.target.query('select count(*)::int as count from many')
    assert.deepEqual(there, [{ count }])
    const again = await fixture.ended(id, (await fixture.start(id)).id)
    assert.deepEqual([again.records.sent, again.skipped.unchanged], [0, count])
    assert.equal((await caller.expect(caller.call('getConnectionState', { accountId, id }))).rows, count)
  })
})
