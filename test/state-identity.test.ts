import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addWebhook, startEndpoint, webhook } from './harness/endpoint.ts'
import { assertInvariants } from './harness/invariants.ts'
import { localFolder, postgresql, startFixture } from './harness/transfers.ts'

/**
 * Settings that name the data or its destination are changed between the transfers of an incremental connection: the next one reads
 * everything, and that is announced before. After any other change it continues.
 */

const reading = { table: 'people', syncMode: 'Incremental', markerColumn: 'id', lagSeconds: 0 }

async function prepare(t: TestContext) {
  const fixture = await startFixture()
  t.after(fixture.close)
  for (const [name, rows] of [
    ['people', 100],
    ['others', 50],
  ] as const) {
    await fixture.target.query(`create table ${name} (id int primary key, name text)`)
    await fixture.target.query(`insert into ${name} select i, '${name} ' || i from generate_series(1, ${rows}) i`)
  }
  await fixture.startWorker()
  const { caller, accountId } = fixture
  const reader = (id: string) => ({
    run: async (body?: object) => {
      const transfer = await fixture.ended(id, (await fixture.start(id, body)).id)
      assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
      return transfer.records.read
    },
    update: (body: object) => caller.expect(caller.call('updateConnection', { accountId, id, body })),
    state: async () => caller.expect(caller.call('getConnectionState', { accountId, id })),
    preview: async (body: object) =>
      (await caller.expect(caller.call('previewConnection', { accountId, id, body }))).findings,
  })
  return { fixture, reader }
}

test('another table of the source is read from its beginning, as is said before', async (t) => {
  const { fixture, reader } = await prepare(t)
  const id = await fixture.connect(postgresql, reading, localFolder, { subfolder: 'out' })
  const { run, state, preview } = reader(id)
  assert.deepEqual([await run(), await run()], [100, 0])
  assert.equal((await state()).afresh, undefined)

  // Settings that do not name the data leave the cursor.
  const states = async (body: object) => {
    const answer = await fixture.caller.call('updateConnection', { accountId: fixture.accountId, id, body })
    return answer.headers['x-connection-states']
  }
  assert.equal(await states({ srcConnectionConfig: { ...reading, lagSeconds: 1, statementTimeoutSeconds: 60 } }), '0')
  assert.deepEqual([(await state()).afresh, await run()], [undefined, 0])

  const others = { ...reading, table: 'others' }
  const expected = /^The next transfer reads the source from its beginning, because .*: "Table" of the source\.$/
  // Before it is saved, too.
  const [finding] = (await preview({ srcConnectionConfig: others })).filter(({ code }) => code === 'state_forgotten')
  assert.match(finding?.message ?? '', expected)
  assert.equal(await states({ srcConnectionConfig: others }), '1')
  assert.match((await state()).afresh ?? '', expected)
  assert.deepEqual([await run(), (await state()).afresh, await run()], [50, undefined, 0])
  // The history says it.
  const reply = await fixture.caller.expect(
    fixture.caller.call('listConnectionEvents', { accountId: fixture.accountId, id }),
  )
  assert.deepEqual(
    reply.filter(({ kind }) => kind === 'state').map(({ to }) => to),
    ['settings'],
  )
  await assertInvariants(fixture.service.database.pool)
})

test('another place at the destination gets every row', async (t) => {
  const { fixture, reader } = await prepare(t)
  await fixture.target.query('create table first (id int, name text); create table second (id int, name text)')
  const id = await fixture.connect(postgresql, reading, postgresql, { table: 'first', writeMode: 'Insert' })
  const { run, update, state } = reader(id)
  assert.deepEqual([await run(), await run()], [100, 0])
  await update({ destConnectionConfig: { table: 'second', writeMode: 'Insert' } })
  assert.match((await state()).afresh ?? '', /"Table" of the destination/)
  assert.deepEqual([await run(), await run()], [100, 0])
  const { rows } = await fixture.target.query('select count(*)::int from second')
  assert.deepEqual(rows, [{ count: 100 }])
})

test('another database in the configuration of the connector is read from its beginning, and another password is not another database', async (t) => {
  const { fixture, reader } = await prepare(t)
  const { caller, accountId } = fixture
  const endpoint = await startEndpoint(t)
  await addWebhook(fixture, endpoint)
  const id = await fixture.connect(postgresql, reading, webhook, { rowsPerRequest: 100 })
  const { run, update, state } = reader(id)
  assert.deepEqual([await run(), await run()], [100, 0])
  const url = new URL(fixture.targetUrl)
  /** Resolves with how many states the answer says that start anew. */
  const configure = async (secretConfig: object) => {
    const answer = caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } } as never)
    await caller.expect(answer)
    return (await answer).headers['x-connection-states']
  }
  const password = decodeURIComponent(url.password) || 'any'
  assert.equal(await configure({ password }), '0')
  await update({ destConnectionConfig: { rowsPerRequest: 50 } })
  assert.deepEqual([(await state()).afresh, await run()], [undefined, 0])
  const read = await caller.call('getConnectorConfiguration', { accountId, id: postgresql.id })
  assert.equal(read.headers['x-connection-states'], '1')
  // The same server under another name.
  assert.equal(await configure({ host: url.hostname === 'localhost' ? '127.0.0.1' : 'localhost', password }), '1')
  assert.match((await state()).afresh ?? '', /"Host" of the source/)
  assert.deepEqual([await run(), await run()], [100, 0])
})

test('a transfer with settings for itself does not move the cursor of others, and its rows come twice only as is said', async (t) => {
  const { fixture, reader } = await prepare(t)
  await fixture.target.query('create table first (id int, name text)')
  const id = await fixture.connect(postgresql, reading, postgresql, { table: 'first', writeMode: 'Insert' })
  const { run } = reader(id)
  assert.deepEqual([await run(), await run()], [100, 0])
  assert.equal(await run({ srcConnectionConfig: { ...reading, table: 'others' } }), 50)
  const transfer = await fixture.ended(id, (await fixture.start(id)).id)
  assert.equal(transfer.records.read, 100)
  const lines = await fixture.caller.expect(
    fixture.caller.call('listTransferLog', { accountId: fixture.accountId, id, transferId: transfer.id }),
  )
  const noted = lines.filter(({ kind }) => kind === 'noted').map(({ text }) => text)
  assert.equal(noted.length, 2, JSON.stringify(lines))
  assert.match(noted[0] ?? '', /"Table" of the source/)
  assert.match(noted[1] ?? '', /inserted again/)
})
