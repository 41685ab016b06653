import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ConnectorError } from '@penstock/connector'
import { limits, type TransferLogLine } from '@penstock/wire'
import { people, startEngine, taken } from './harness/engine.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** The log of a transfer: the events of each attempt, and who started it. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
})
after(() => fixture.close())

const logOf = async (id: string, transferId: string, query = {}): Promise<TransferLogLine[]> =>
  fixture.caller.expect(fixture.caller.call('listTransferLog', { accountId: fixture.accountId, id, transferId, query }))
const without = (lines: readonly TransferLogLine[]) =>
  lines.map(({ attempt, kind, text }) => [attempt, kind, text.replace(/ [\d,]+ bytes, [\d.]+ s\.$/, ' … bytes, … s.')])

describe('the log of a transfer', () => {
  test('has a line for each step, with counts and without values', async () => {
    await writeFile(join(fixture.folder, 'people.csv'), 'id,name\n1,canary-Ada\n2,canary-Grace\n3,\n')
    await fixture.target.query('create table people (id int primary key, name text not null)')
    const id = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, {
      table: 'people',
      writeMode: 'Insert',
    })
    const started = await fixture.start(id)
    assert.equal(started.startedBy?.kind, 'client')
    const { startedBy } = await fixture.ended(id, started.id)
    assert.deepEqual(startedBy, started.startedBy)
    const lines = await logOf(id, started.id)
    assert.deepEqual(without(lines), [
      [1, 'began', 'A worker took the transfer.'],
      [1, 'opened', 'Reads from Local folder and writes to PostgreSQL.'],
      [1, 'sent', 'Sends records 1 to 3 to PostgreSQL.'],
      [1, 'rejected', 'PostgreSQL confirmed a batch: 3 read, 3 sent, 2 accepted, 1 rejected. … bytes, … s.'],
      [1, 'ended', 'Ended: 2 records were accepted, 1 rejected.'],
    ])
    assert.deepEqual(
      lines.map(({ number }) => number),
      [1, 2, 3, 4, 5],
    )
    const now = Date.now() / 1000
    assert.ok(lines.every(({ time }) => time <= now && time > now - 600))
    assert.ok(!JSON.stringify(lines).includes('canary'))
    assert.deepEqual(await logOf(id, started.id, { size: 2, offset: 1 }), lines.slice(1, 3))
  })

  test('does not say that everything is delivered if nothing was accepted', async () => {
    await writeFile(join(fixture.folder, 'nameless.csv'), 'id,name\n1,\n2,\n')
    const id = await fixture.connect(localFolder, { files: 'nameless.csv' }, postgresql, {
      table: 'people',
      writeMode: 'Insert',
    })
    const { id: transferId } = await fixture.start(id)
    await fixture.ended(id, transferId)
    const last = (await logOf(id, transferId)).at(-1)
    assert.deepEqual([last?.kind, last?.text], ['ended', 'Ended: nothing was accepted. 2 records were rejected.'])
  })

  test('says which rows of a source with a lag are left to the next transfer', async () => {
    await fixture.target.query(`
      create table fresh (id int primary key, changed timestamptz not null);
      insert into fresh values (1, now());
      create table fresh_copies (id int primary key, changed timestamptz)`)
    const reading = { table: 'fresh', syncMode: 'Incremental', markerColumn: 'changed', keyColumns: 'id' }
    const id = await fixture.connect(postgresql, reading, postgresql, { table: 'fresh_copies', writeMode: 'Insert' })
    const { id: transferId } = await fixture.start(id)
    const { records } = await fixture.ended(id, transferId)
    assert.equal(records.read, 0)
    const reported = (await logOf(id, transferId)).filter(({ kind }) => kind === 'reported')
    assert.deepEqual(
      reported.map(({ text }) => text),
      ['PostgreSQL: Rows of the last 60 seconds are read by the next transfer.'],
    )
  })

  test('says why a transfer failed, and is empty before a worker took it', async () => {
    const id = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, {
      table: 'nowhere',
      writeMode: 'Insert',
    })
    const { id: transferId } = await fixture.start(id)
    const { error } = await fixture.ended(id, transferId)
    const last = (await logOf(id, transferId)).at(-1)
    assert.deepEqual([last?.kind, last?.text], ['ended', `Failed: ${error?.message} (table_not_found)`])
  })
})

describe('the log of an attempt', () => {
  test('says what was waited for and tried again, in each attempt', async (t) => {
    const engine = await startEngine()
    t.after(() => engine.close())
    engine.sides.source = people(20)
    let batches = 0
    engine.sides.destination = {
      open: () => ({
        deliver: async (batch) => {
          if (++batches === 2) throw new ConnectorError('rate_limited', 'Too many requests.')
          return taken(batch)
        },
      }),
    }
    const id = await engine.connectSides()
    const { id: transferId, status } = await engine.move(id)
    assert.equal(status, 'succeeded')
    const call = { accountId: engine.accountId, id, transferId }
    const lines = await engine.caller.expect(engine.caller.call('listTransferLog', call))
    assert.deepEqual(
      lines.map(({ kind }) => kind),
      ['began', 'opened', 'sent', 'confirmed', 'sent', 'waiting', 'opened', 'confirmed', 'ended'],
    )
    assert.match(lines[5]?.text ?? '', /^Waits [\d.]+ s before another try: Too many requests\. .* \(rate_limited\)$/)
    assert.equal(lines[4]?.text, 'Sends records 11 to 20 to PostgreSQL.')
  })

  test('keeps its first and its last lines, and says how many it dropped', async (t) => {
    const engine = await startEngine()
    t.after(() => engine.close())
    engine.sides.source = people(3_000)
    engine.sides.destination = { open: () => ({ deliver: async (batch) => taken(batch) }) }
    const id = await engine.connectSides()
    const { id: transferId } = await engine.move(id)
    const call = { accountId: engine.accountId, id, transferId, query: { size: 500 } }
    const lines = await engine.caller.expect(engine.caller.call('listTransferLog', call))
    assert.equal(lines.length, limits.transferLogLinesMax)
    const [dropped, ...others] = lines.filter(({ kind }) => kind === 'dropped')
    assert.deepEqual(others, [])
    const made = 2 + 2 * 300 + 1
    assert.equal(dropped?.text, `${made - (limits.transferLogLinesMax - 1)} lines were dropped.`)
    assert.equal(lines.at(-1)?.kind, 'ended')
    assert.equal(lines[2]?.text, 'Sends records 1 to 10 to PostgreSQL.')
  })
})
