import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** Purposes of a sub-account, and connections that require them (docs/consent.md). */

const advertising = {
  name: 'advertising',
  signals: [{ kind: 'values' as const, column: 'agreed', values: ['yes'] }],
}

describe('consent', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
    await fixture.startWorker()
  })
  after(() => fixture.close())

  const set = (purposes: readonly object[]) =>
    fixture.caller.call('setPurposes', { accountId: fixture.accountId, body: { purposes: purposes as never } })
  const of = (id: string) => ({ accountId: fixture.accountId, id })
  const change = (id: string, destConnectionConfig: Record<string, string>) =>
    fixture.caller.expect(fixture.caller.call('updateConnection', { ...of(id), body: { destConnectionConfig } }))
  const activate = (id: string) =>
    fixture.caller.call('updateConnectionStatus', { ...of(id), body: { action: 'activate' } })
  async function move(id: string) {
    const { id: transferId } = await fixture.start(id)
    const { status, error, records, skipped } = await fixture.ended(id, transferId)
    return { transferId, status, error, counts: [records.read, records.accepted, records.rejected, skipped.noConsent] }
  }
  const idsIn = async (table: string) =>
    (await fixture.target.query(`select id from ${table} order by id`)).rows.map(({ id }) => id)

  /** A connection from a file to a separate table, which is created. */
  async function connect(table: string, lines: readonly string[], settings: object = {}) {
    await write(table, lines)
    await fixture.target.query(`create table ${table} (id int primary key, email text)`)
    return fixture.connect(localFolder, { files: `${table}.csv` }, postgresql, { ...settingsOf(table), ...settings })
  }
  const mapping = JSON.stringify({ id: 'id', email: 'email' })
  const settingsOf = (table: string) => ({ table, writeMode: 'Insert', mapping })
  const write = (table: string, lines: readonly string[]) =>
    writeFile(join(fixture.folder, `${table}.csv`), `id,email,agreed\n${lines.join('\n')}\n`)
  const people = ['1,a@example.com,yes', '2,b@example.com,no', '3,c@example.com,', '4,d@example.com,YES']

  test('is checked once the sub-account has a purpose: a connection without an answer does not move data', async () => {
    await fixture.caller.expect(set([]))
    const unstated = await connect('unstated', people)
    assert.deepEqual((await move(unstated)).counts, [4, 4, 0, 0], 'nothing is checked before')

    await fixture.caller.expect(set([advertising]))
    const { status, error, counts } = await move(unstated)
    assert.deepEqual([status, error?.code, counts[1]], ['failed', 'invalid_setting', 0])
    assert.match(error?.message ?? '', /Required consent.*\(advertising\), or none/)
    const refused = await activate(unstated)
    assert.deepEqual([refused.status, refused.error], [409, 'connection_not_ready'])
    assert.deepEqual(refused.details, [
      {
        field: 'destConnectionConfig.purposes',
        message: 'is required: enter the purposes that a record needs (advertising), or none',
      },
    ])
    await change(unstated, { ...settingsOf('unstated'), purposes: 'adverts' })
    assert.match(JSON.stringify((await activate(unstated)).details), /names adverts, which is no purpose/)
    await change(unstated, { ...settingsOf('unstated'), purposes: 'none' })
    await fixture.caller.expect(activate(unstated))
    await fixture.target.query('truncate unstated')
    assert.deepEqual((await move(unstated)).counts, [4, 4, 0, 0])
  })

  test('keeps a record from the destination, and is counted, in a preview too', async () => {
    await fixture.caller.expect(set([advertising]))
    const id = await connect('checked', people, { purposes: 'advertising' })
    const preview = await fixture.caller.expect(fixture.caller.call('previewConnection', { ...of(id), body: {} }))
    assert.deepEqual([preview.rows.length, preview.noConsent], [2, 2])
    assert.deepEqual(
      preview.findings.map(({ code, column }) => [code, column]),
      [['consent_missing', 'agreed']],
    )
    const { status, counts, transferId } = await move(id)
    assert.deepEqual([status, counts], ['succeeded', [4, 2, 0, 2]])
    assert.deepEqual(await idsIn('checked'), [1, 4])
    const log = await fixture.caller.expect(fixture.caller.call('listTransferLog', { ...of(id), transferId }))
    assert(log.some(({ text }) => text.includes('2 without consent')))
  })

  test('that is taken back removes the row from a mirror', async () => {
    await fixture.caller.expect(set([advertising]))
    const id = await connect('mirrored', people, {
      purposes: 'advertising',
      writeMode: 'Upsert',
      keyColumns: 'id',
      sendRows: 'Mirror',
    })
    await move(id)
    assert.deepEqual(await idsIn('mirrored'), [1, 4])
    await write('mirrored', ['1,a@example.com,no', '2,b@example.com,yes', '4,d@example.com,yes'])
    assert.equal((await move(id)).status, 'succeeded')
    assert.deepEqual(await idsIn('mirrored'), [2, 4])
  })

  test('is checked again before rejected records are sent again', async () => {
    await fixture.caller.expect(set([advertising]))
    const id = await connect('replayed', ['1,a@example.com,yes', 'x,b@example.com,yes', 'y,c@example.com,yes'], {
      purposes: 'advertising',
    })
    const { transferId, counts } = await move(id)
    assert.deepEqual(counts, [3, 1, 2, 0])
    const kept = await fixture.caller.expect(fixture.caller.call('listRejects', { ...of(id), transferId }))
    assert.deepEqual(
      kept.map(({ number }) => number),
      [1, 2],
    )
    const edits = [
      { number: 1, record: { id: '2', email: 'b@example.com', agreed: 'no' } },
      { number: 2, record: { id: '3', email: 'c@example.com', agreed: 'yes' } },
    ]
    await fixture.caller.expect(fixture.caller.call('editRejects', { ...of(id), transferId, body: { edits } }))
    const again = await fixture.caller.expect(fixture.caller.call('replayTransfer', { ...of(id), transferId }))
    const { records, skipped } = await fixture.ended(id, again.id)
    assert.deepEqual([records.read, records.accepted, records.rejected, skipped.noConsent], [2, 1, 0, 1])
    assert.deepEqual(await idsIn('replayed'), [1, 3])
  })

  test('purposes have their own names, and keys of their kinds; a required one stays', async () => {
    const signal = advertising.signals[0]
    const cases: [readonly object[], string, RegExp][] = [
      [[advertising, { ...advertising, name: ' advertising ' }], 'body.purposes.1.name', /two purposes/],
      [[{ ...advertising, name: 'a, b' }], 'body.purposes.0.name', /comma/],
      [[{ ...advertising, name: 'None' }], 'body.purposes.0.name', /stands for no purpose/],
      [[{ name: 'a', signals: [{ kind: 'values', column: 'a' }] }], 'body.purposes.0.signals.0.values', /required/],
      [[{ name: 'a', signals: [{ kind: 'tcf', column: 'a' }] }], 'body.purposes.0.signals.0.purposes', /required/],
      [[{ name: 'a', signals: [{ ...signal, vendor: 1 }] }], 'body.purposes.0.signals.0.vendor', /does not belong/],
      [
        [{ name: 'a', signals: [{ kind: 'gpp', column: 'a', values: ['x'] }] }],
        'body.purposes.0.signals.0.values',
        /does not/,
      ],
      [[{ name: 'a', signals: [] }], 'body.purposes.0.signals', /./],
      [[], 'body.purposes', /lacks advertising, which \d+ connections require/],
    ]
    await fixture.caller.expect(set([advertising]))
    await connect('required', people, { purposes: 'advertising' })
    await connect('also_required', people, { purposes: 'advertising' })
    for (const [purposes, field, message] of cases) {
      const { status, details } = await set(purposes)
      assert.equal(status, 400, JSON.stringify(purposes))
      const detail = details.find((one) => one.field === field)
      assert.match(detail?.message ?? JSON.stringify(details), message)
    }
    const listed = await fixture.caller.expect(fixture.caller.call('listPurposes', { accountId: fixture.accountId }))
    assert.deepEqual(
      listed.map(({ name, uses }) => [name, uses]),
      [['advertising', []]],
    )
  })
})
