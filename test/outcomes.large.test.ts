import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { outcomesConnectorId } from '@penstock/wire'
import { addWebhook, startEndpoint, webhook } from './harness/endpoint.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** Outcomes of rows. Connections record them if their settings say so, and they are read like any source (docs/outcomes.md). */

type Read = Readonly<Record<string, unknown>>

describe('outcomes', () => {
  let fixture: Fixture
  let record: string
  before(async () => {
    fixture = await startFixture()
    const { caller, accountId } = fixture
    await caller.addConnectors(accountId, connectorBySlug('outcomes'))
    const call = { accountId, id: outcomesConnectorId, body: { secretConfig: {}, name: 'What became' } }
    record = (await caller.expect(caller.call('configureConnector', call))).configurationId
    await fixture.startWorker()
  })
  after(async () => {
    await assertInvariants(fixture.service.database.pool)
    await fixture.close()
  })

  const of = (id: string) => ({ accountId: fixture.accountId, id })
  const change = (id: string, destConnectionConfig: Record<string, string>) =>
    fixture.caller.expect(fixture.caller.call('updateConnection', { ...of(id), body: { destConnectionConfig } }))
  async function move(id: string, body?: object) {
    const { id: transferId } = await fixture.start(id, body)
    const ended = await fixture.ended(id, transferId)
    return { transferId, ...ended }
  }
  const write = (table: string, lines: readonly string[]) =>
    writeFile(join(fixture.folder, `${table}.csv`), `id,email,country\n${lines.join('\n')}\n`)
  const people = ['1,a@example.com,DE', '2,b@example.com,FR', 'x,c@example.com,DE', '4,,DE', '1,d@example.com,DE']

  async function connect(table: string, lines: readonly string[], settings: Record<string, string>) {
    await write(table, lines)
    await fixture.target.query(`create table ${table} (id int primary key, email text not null)`)
    const id = await fixture.connect(localFolder, { files: `${table}.csv` }, postgresql, {
      table,
      writeMode: 'Upsert',
      keyColumns: 'id',
      mapping: JSON.stringify({ id: 'id', email: 'email' }),
      ...settings,
    })
    return id
  }
  let readers = 0
  /** Everything that is recorded, by a connection that reads it. */
  async function recorded(settings: Record<string, string> = {}): Promise<Read[]> {
    const table = `outcomes_${++readers}`
    const id = await fixture.connect({ id: outcomesConnectorId }, { startAt: 'oldest', ...settings }, postgresql, {
      table,
      createTable: true,
    })
    const { status, error } = await move(id)
    assert.equal(status, 'succeeded', JSON.stringify(error))
    return (await fixture.target.query(`select * from ${table} order by number`)).rows
  }
  const brief = (rows: readonly Read[]) => rows.map(({ row, outcome, key }) => [Number(row), outcome, key])

  test('are there for each row of a transfer once, with the chosen columns and the reason', async () => {
    const id = await connect('kinds', people, {
      outcomes: 'What became',
      outcomeColumns: 'id, email',
      filter: 'row.country == "DE"',
      duplicates: 'First',
      duplicateKey: 'id',
    })
    const { transferId, records, skipped } = await move(id)
    assert.deepEqual(
      [records.read, records.accepted, records.rejected, skipped.filtered, skipped.duplicates],
      [5, 1, 2, 1, 1],
    )
    const rows = (await recorded()).filter(({ transfer_id }) => transfer_id === transferId)
    assert.deepEqual(brief(rows), [
      [1, 'accepted', { id: '1', email: 'a@example.com' }],
      [2, 'filtered', { id: '2', email: 'b@example.com' }],
      [3, 'rejected', { id: 'x', email: 'c@example.com' }],
      [4, 'rejected', { id: '4', email: null }],
      [5, 'duplicate', { id: '1', email: 'd@example.com' }],
    ])
    for (const { connection_id, outcome, reason, records: count, part, test: isTest } of rows) {
      assert.deepEqual([connection_id, count, part, isTest], [id, 1, 1, false])
      assert.equal(typeof reason === 'string', outcome === 'rejected')
    }
  })

  test('name unchanged rows, and rows that left the source', async () => {
    const settings = { outcomes: record, outcomeColumns: 'id', sendRows: 'Mirror' }
    const id = await connect('mirrored', ['1,a@example.com,DE', '2,b@example.com,DE'], settings)
    await move(id)
    await write('mirrored', ['1,a@example.com,DE', '3,c@example.com,DE'])
    const { transferId, records, removed } = await move(id)
    assert.deepEqual([records.read, records.accepted, removed], [3, 2, 1])
    const rows = (await recorded()).filter(({ transfer_id }) => transfer_id === transferId)
    assert.deepEqual(
      rows.map(({ row, outcome, key }) => [row, outcome, (key as Read).id]),
      [
        ['1', 'unchanged', '1'],
        ['2', 'accepted', '3'],
        [null, 'removed', '2'],
      ],
    )
  })

  test('can be limited to rows that were sent', async () => {
    const settings = { outcomes: record, outcomeColumns: 'id', outcomeRows: 'Sent', filter: 'row.country == "DE"' }
    const id = await connect('sent_only', people.slice(0, 2), settings)
    const { transferId } = await move(id)
    const rows = (await recorded()).filter(({ transfer_id }) => transfer_id === transferId)
    assert.deepEqual(brief(rows), [[1, 'accepted', { id: '1' }]])
  })

  test('have the answers of the platform', async (t) => {
    const endpoint = await startEndpoint(t)
    await addWebhook(fixture, endpoint)
    endpoint.answer = ({ rows }) => ({
      rejected: [{ index: 1, reason: 'is not known here' }],
      answers: rows.map(({ id }) => (id === '3' ? null : { mapped: `u${id}` })),
    })
    await write('answered', ['1,a@example.com,DE', '2,b@example.com,DE', '3,c@example.com,DE'])
    const id = await fixture.connect(localFolder, { files: 'answered.csv' }, webhook, {
      outcomes: record,
      outcomeColumns: 'id',
    })
    const { transferId } = await move(id)
    const rows = (await recorded()).filter(({ transfer_id }) => transfer_id === transferId)
    assert.deepEqual(
      rows.map(({ outcome, reason, answer }) => [outcome, reason, answer]),
      [
        ['accepted', null, { mapped: 'u1' }],
        ['rejected', 'is not known here', { mapped: 'u2' }],
        ['accepted', null, null],
      ],
    )
  })

  test('come once to each connection that reads them', async () => {
    const table = 'read_on'
    const reader = await fixture.connect({ id: outcomesConnectorId }, { startAt: 'newest' }, postgresql, {
      table,
      createTable: true,
    })
    await move(reader)
    const id = await connect('two_times', people.slice(0, 2), { outcomes: record, outcomeColumns: 'id' })
    await move(id)
    await move(reader)
    await move(id)
    await move(reader)
    await move(reader)
    const { rows } = await fixture.target.query(`select outcome, row from ${table} order by number`)
    assert.deepEqual(
      rows.map(({ outcome, row }) => [outcome, row]),
      [
        ['accepted', '1'],
        ['accepted', '2'],
        ['accepted', '1'],
        ['accepted', '2'],
      ],
    )
  })

  test('are refused if they cannot be recorded', async () => {
    const settings = { table: 'refused', writeMode: 'Upsert', keyColumns: 'id', mapping: '{"id":"id","email":"email"}' }
    const { caller, accountId } = fixture
    const body = { name: 'Another', secretConfig: {} }
    const call = { accountId, id: outcomesConnectorId }
    const another = await caller.expect(caller.call('createConnectorConfiguration', { ...call, body }))
    const id = await connect('refused', people.slice(0, 1), { outcomes: 'Another', outcomeColumns: 'id' })
    const { configurationId } = another
    await caller.expect(caller.call('deleteConnectorConfiguration', { ...call, query: { configurationId } }))
    const { status, error } = await move(id)
    assert.deepEqual([status, error?.code, error?.side], ['failed', 'invalid_setting', 'destination'])
    assert.match(error?.message ?? '', /no configuration “Another” of the connector Outcomes/)
    const activate = () => fixture.caller.call('updateConnectionStatus', { ...of(id), body: { action: 'activate' } })
    const refused = await activate()
    assert.deepEqual([refused.status, refused.error], [409, 'connection_not_ready'])
    assert.equal(refused.details?.[0]?.field, 'destConnectionConfig.outcomes')
    await change(id, { ...settings, outcomes: record, outcomeColumns: 'id, nope' })
    await fixture.caller.expect(activate())
    const { error: column } = await move(id)
    assert.match(column?.message ?? '', /outcomeColumns: the source has no column “nope”/)
    const reader = { table: 'loop', createTable: true, outcomes: record }
    await assert.rejects(
      fixture.connect({ id: outcomesConnectorId }, { startAt: 'oldest' }, postgresql, reader),
      /cannot record outcomes/,
    )
  })
})
