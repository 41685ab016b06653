import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { limits, type Reject, type Scope } from '@penstock/wire'
import { dumpDatabase, placesOf } from './harness/dump.ts'
import { assertInvariants } from './harness/invariants.ts'
import type { Reply } from './harness/service.ts'
import { type Fixture, localFolder, postgresql, postgresqlSecrets, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Correctness of rows: what is previewed, counted, rejected, sent again, reported, and never shown. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture({ PENSTOCK_LOG_LEVEL: 'trace', PENSTOCK_REJECTS: '100', PENSTOCK_RETRY_SECONDS: '1' })
  await fixture.startWorker()
})
after(async () => {
  try {
    await assertInvariants(fixture.service.database.pool)
  } finally {
    await fixture.close()
  }
})

let files = 0
/** A file of the folder with these lines. Returns its name. */
async function addFile(...lines: string[]): Promise<string> {
  const name = `rows-${++files}.csv`
  await writeFile(join(fixture.folder, name), `${lines.join('\n')}\n`)
  return name
}
let tables = 0
/** A connection from a new file into a new table. */
async function addConnection(columns: string, lines: string[], settings: Record<string, string> = {}) {
  const table = `people_${++tables}`
  await fixture.target.query(`create table ${table} (${columns})`)
  const config = { table, writeMode: 'Insert', ...settings }
  const id = await fixture.connect(localFolder, { files: await addFile(...lines) }, postgresql, config)
  return { id, table, path: { accountId: fixture.accountId, id } }
}
const run = async (id: string, body = {}) => fixture.ended(id, (await fixture.start(id, body)).id)
const rejectsOf = (id: string, transferId: string, query = {}) =>
  fixture.caller.call('listRejects', { accountId: fixture.accountId, id, transferId, query })
const stream = (id: string, transferId: string, accept: string, query = '') =>
  fixture.service.send({
    method: 'GET',
    path: `/es/v2/connections/${id}/transfers/${transferId}/rejects?accountId=${fixture.accountId}${query}`,
    headers: { authorization: `Bearer ${fixture.token}`, accept },
  })

const adults = 'name text primary key, age int not null check (age < 150), note text'
/** One good row, and one for each way in which a table refuses. */
const dirty = [
  'name,age,note',
  'Ada,36,=1+1',
  'Ada,37,"twice, and ""quoted"""',
  'Grace,old,',
  'Alan,,',
  'Methuselah,969,',
]

describe('a transfer of which rows are rejected', () => {
  test('is partial, and reports of each one its number, field and reason, in the order of the source', async () => {
    const { id, table } = await addConnection(adults, dirty)
    const transfer = await run(id)
    assert.deepEqual([transfer.status, transfer.error], ['partial', null])
    assert.deepEqual(transfer.records, { read: 5, sent: 5, accepted: 1, rejected: 4 })
    assert.deepEqual([transfer.progress, transfer.attempt], [1, 1])
    assert.deepEqual((await fixture.target.query(`select name from ${table}`)).rows, [{ name: 'Ada' }])
    const { response, headers } = await rejectsOf(id, transfer.id)
    assert.equal(headers['x-total-count'], '4')
    assert.deepEqual(
      response.map(({ row, place, count, field }) => [row, place?.unit, place?.number, count, field]),
      [
        [2, 'line', 3, 1, null],
        [3, 'line', 4, 1, 'age'],
        [4, 'line', 5, 1, 'age'],
        [5, 'line', 6, 1, null],
      ],
    )
    for (const { reason } of response) assert.match(reason, /\S.*\.$/)
    assert.deepEqual(Object.keys(response[0]?.record ?? {}), ['name', 'age', 'note'])
  })

  test('lists what it rejected as pages, as NDJSON and as CSV, which all say the same', async () => {
    const { id } = await addConnection(adults, [
      ...dirty,
      ...Array.from({ length: 20 }, (_, n) => `Person ${n},none,=${n}`),
    ])
    const { id: transferId } = await run(id)
    const { response: all } = await rejectsOf(id, transferId, { size: 500 })
    assert.equal(all.length, 24)
    const pages: Reject[] = []
    for (let offset = 0; offset < 24; offset += 10) {
      const page = await rejectsOf(id, transferId, { size: 10, offset })
      assert.equal(page.headers['x-total-count'], '24')
      assert.equal(/rel="next"/.test(page.headers.link ?? ''), offset < 20)
      pages.push(...page.response)
    }
    assert.deepEqual(pages, all)

    const ndjson = await stream(id, transferId, 'application/x-ndjson')
    assert.deepEqual([ndjson.status, ndjson.headers['content-type']], [200, 'application/x-ndjson; charset=utf-8'])
    assert.match(ndjson.headers['x-request-id'] ?? '', /^[0-9a-f]{16}$/)
    const reported = ndjson.text.trimEnd().split('\n')
    assert.deepEqual(
      reported.map((line) => JSON.parse(line)),
      all,
    )

    const csv = await stream(id, transferId, 'text/html;q=0.5, text/csv')
    assert.deepEqual([csv.status, csv.headers['content-type']], [200, 'text/csv; charset=utf-8'])
    const [head, ...rows] = csv.text.trimEnd().split('\r\n')
    assert.equal(head, 'row,file,line,count,field,reason,record')
    assert.equal(rows.length, all.length)
    for (const [at, { row, place, count, field, record }] of all.entries()) {
      assert(rows[at]?.startsWith(`${row},${place?.file},${place?.number},${count},${field ?? ''},`), rows[at])
      assert(rows[at]?.endsWith(`"${JSON.stringify(record).replaceAll('"', '""')}"`), rows[at])
    }
    for (const accept of ['application/json', '*/*', 'application/xml', '']) {
      assert.match((await stream(id, transferId, accept)).headers['content-type'] ?? '', /^application\/json/)
    }
  })

  test('shows the rejected values to those who may read records, and is searched by them', async () => {
    const { id } = await addConnection('"2024" text, name text, age int, note text', [
      'name,age,note,2024',
      'Ada,36,,x',
      'Grace Ölander,2006-13-45,100%,last',
      `Alan,none,${'long '.repeat(300)},`,
      `Ada,none,${'y'.repeat(70_000)},`,
    ])
    const { id: transferId } = await run(id)
    const { response: all } = await rejectsOf(id, transferId)
    assert.deepEqual(
      all.map(({ row }) => row),
      [2, 3, 4],
    )
    const [grace, alan, ada] = all
    assert.deepEqual(grace?.record, { name: 'Grace Ölander', age: '2006-13-45', note: '100%', 2024: 'last' })
    assert.deepEqual([alan?.record.name, alan?.record.age], ['Alan', 'none'])
    assert.match(alan?.record.note ?? '', /^(long ){200}…$/)
    // A record that is too large to show is shown shortened.
    assert.deepEqual([ada?.record.age, ada?.record.note], ['n… (4)', 'y… (over 10000)'])

    const found = async (query: Record<string, unknown>) => {
      const reply = await rejectsOf(id, transferId, query)
      assert.equal(reply.status, 200, reply.text)
      return [reply.response.map(({ row }) => row), Number(reply.headers['x-total-count'])]
    }
    assert.deepEqual(await found({ q: '2006-13' }), [[2], 1])
    assert.deepEqual(await found({ q: 'öLANDER' }), [[2], 1])
    assert.deepEqual(await found({ q: '%' }), [[2], 1])
    assert.deepEqual(await found({ q: '_' }), [[], 0])
    // The reason of the second one quotes it.
    assert.deepEqual(await found({ q: 'none' }), [[3, 4], 2])
    assert.deepEqual(await found({ q: 'nobody' }), [[], 0])
    assert.deepEqual(await found({ q: '' }), [[2, 3, 4], 3])
    // The search covers all displayed values: the field and the reason too.
    assert.deepEqual(await found({ q: 'age', size: 1, offset: 1 }), [[3], 3])
    assert.match((await rejectsOf(id, transferId, { q: 'age', size: 1 })).headers.link ?? '', /q=age.*rel="next"/)
    const ndjson = await stream(id, transferId, 'application/x-ndjson', '&q=grace')
    assert.deepEqual(JSON.parse(ndjson.text), grace)
    assert.equal((await rejectsOf(id, transferId, { q: 'x'.repeat(201) })).status, 400)
  })

  test('shows no value to others, and the audit log says who read records, never what they searched for', async () => {
    const { id, path } = await addConnection(adults, ['name,age,note', 'canary-of-a-record,none,'])
    const { id: transferId } = await run(id)
    const token = async (...scopes: Scope[]) => {
      const body = { name: 'Limited', scopes }
      const { id: clientId, clientSecret } = await fixture.caller.expect(fixture.caller.call('createClient', { body }))
      const reply = await fixture.service.call('createToken', { body: { clientId, clientSecret } })
      return reply.response.accessToken
    }
    const ask = async (given: string, query = {}) =>
      fixture.service.call('listRejects', { ...path, transferId, token: given, query })
    const others = await token('transfers:read', 'connections:read', 'audit:read')
    for (const query of [{}, { q: 'canary' }]) {
      const refused = await ask(others, query)
      assert.deepEqual([refused.status, refused.error], [403, 'forbidden'])
      assert.doesNotMatch(refused.text, /canary/)
    }
    const readers = await token('records:read')
    const [reject] = (await ask(readers, { q: 'canary-of' })).response
    assert.equal(reject?.record.name, 'canary-of-a-record')
    const audit = await fixture.caller.call('listAudit', { query: { action: 'listRejects' } })
    const [entry] = audit.response
    assert.deepEqual([entry?.action, entry?.details], ['listRejects', { records: 1, transferId }])
    assert.doesNotMatch(audit.text, /canary/)
    const dumped = await dumpDatabase(fixture.service.database.pool)
    assert.deepEqual(placesOf('canary-of-a-record', dumped), [], 'values are sealed at rest')
  })

  test('is searched up to a number of entries', async (t) => {
    const { id } = await addConnection(adults, ['name,age,note', 'Ada,none,'])
    const { id: transferId } = await run(id)
    const { rejectsSearchedMax } = limits
    const { pool } = fixture.service.database
    t.after(() => pool.query('delete from rejects where transfer_id = $1 and number > 1', [transferId]))
    await pool.query(
      `insert into rejects (transfer_id, number, row, field, record)
       select $1, n, n, 'canary field', '{}' from generate_series(2, $2::int) n`,
      [transferId, rejectsSearchedMax + 5],
    )
    const reply = await rejectsOf(id, transferId, { q: 'canary field', size: 2, offset: rejectsSearchedMax - 2 })
    assert.equal(reply.headers['x-total-count'], String(rejectsSearchedMax - 1))
    assert.deepEqual(
      reply.response.map(({ row }) => row),
      [rejectsSearchedMax],
    )
  })

  test('refuses a caller who may not read it, and streams nothing', async () => {
    const { id } = await addConnection(adults, dirty)
    const { id: transferId } = await run(id)
    const stranger = await fixture.service.addOrganization()
    const path = (accountId: string) =>
      `/es/v2/connections/${id}/transfers/${transferId}/rejects?accountId=${accountId}`
    for (const accept of ['application/x-ndjson', 'text/csv']) {
      const ask = (token: string, accountId = fixture.accountId): Promise<Reply> =>
        fixture.service.send({
          method: 'GET',
          path: path(accountId),
          headers: { authorization: `Bearer ${token}`, accept },
        })
      for (const reply of [await ask('-'), await ask(stranger.token), await ask(fixture.token, '0123456789abcdef')]) {
        assert(reply.status === 401 || reply.status === 404, reply.text)
        assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
      }
    }
  })

  test('counts every rejected row, and keeps as many as the operator wants', async () => {
    const { id } = await addConnection(adults, ['name,age,note', ...Array.from({ length: 150 }, (_, n) => `P${n},x,`)])
    const transfer = await run(id)
    assert.deepEqual(transfer.records, { read: 150, sent: 150, accepted: 0, rejected: 150 })
    assert.equal((await rejectsOf(id, transfer.id)).headers['x-total-count'], '100')
  })
})

describe('a replay', () => {
  test('sends the rejected rows again and no others, as they were read, and counts them as replayed', async () => {
    const { id, table, path } = await addConnection(adults, dirty)
    const first = await run(id)
    await fixture.target.query(`alter table ${table} drop constraint ${table}_age_check`)
    await fixture.target.query(`alter table ${table} alter age type text using age::text, alter age drop not null`)
    const started = await fixture.caller.call('replayTransfer', { ...path, transferId: first.id })
    assert.equal(started.status, 202, started.text)
    const second = await fixture.ended(id, started.response.id)
    assert.deepEqual([second.trigger, second.status], ['replay', 'partial'])
    assert.deepEqual(second.records, { read: 4, sent: 4, accepted: 3, rejected: 1 })
    const { rows } = await fixture.target.query(`select name, age from ${table} order by name`)
    assert.deepEqual(rows, [
      { name: 'Ada', age: '36' },
      { name: 'Alan', age: null },
      { name: 'Grace', age: 'old' },
      { name: 'Methuselah', age: '969' },
    ])
    const { response: left } = await rejectsOf(id, second.id)
    const { response: rejected } = await rejectsOf(id, first.id)
    assert.deepEqual(
      left.map(({ place }) => place),
      rejected.filter(({ row }) => row === left[0]?.row).map(({ place }) => place),
    )
    assert.equal(left[0]?.place?.unit, 'line')

    await fixture.target.query(`alter table ${table} drop constraint ${table}_pkey`)
    const third = await fixture.caller.call('replayTransfer', { ...path, transferId: second.id })
    assert.equal((await fixture.ended(id, third.response.id)).status, 'succeeded')
    assert.equal((await fixture.target.query(`select from ${table} where note like 'twice, and "quoted"'`)).rowCount, 1)
    const nothing = await fixture.caller.call('replayTransfer', { ...path, transferId: third.response.id })
    assert.deepEqual([nothing.status, nothing.error], [409, 'nothing_to_replay'])
    const report = await fixture.caller.expect(
      fixture.caller.call('reportConnections', { accountId: fixture.accountId, query: { size: 500 } }),
    )
    const total = report.find(({ connectionId }) => connectionId === id)?.total
    assert.deepEqual({ ...total, bytes: 0 }, { read: 5, accepted: 5, rejected: 4, replayed: 4, bytes: 0 })
  })
})

describe('an active transfer', () => {
  test('that is cancelled ends, keeps what was confirmed, and lets the next one begin', async () => {
    const { id, table, path } = await addConnection('name text', ['name', 'Ada'])
    const holder = await fixture.target.connect()
    try {
      await holder.query(`begin; lock table ${table} in access exclusive mode`)
      const { id: transferId } = await fixture.start(id)
      await until('it runs', async () => (await fixture.get(id, transferId)).status === 'running')
      const reported = await fixture.caller.expect(fixture.caller.call('cancelTransfer', { ...path, transferId }))
      assert(['running', 'cancelled'].includes(reported.status))
      const ended = await fixture.ended(id, transferId)
      assert.deepEqual([ended.status, ended.error], ['cancelled', null])
      assert.equal(ended.records.read, ended.records.accepted + ended.records.rejected)
    } finally {
      await holder.query('rollback')
      holder.release()
    }
    assert.equal((await run(id)).status, 'succeeded')
  })

  test('with settings for one time runs with these, and the next one with the connection’s own', async () => {
    const { id, table } = await addConnection('name text', ['name', 'Ada'])
    const other = await addFile('name', 'Grace', 'Alan')
    assert.deepEqual((await run(id, { srcConnectionConfig: { files: other } })).records.accepted, 2)
    assert.deepEqual((await run(id)).records.accepted, 1)
    const { rows } = await fixture.target.query(`select name from ${table} order by name`)
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['Ada', 'Alan', 'Grace'],
    )
  })
})

describe('what is never shown', () => {
  test('a rejected row is found in no log line, row of the database or reply but the list of rejects, and is sent again', async () => {
    const canary = `canary${randomBytes(8).toString('hex')}`
    const email = `${canary}@example.com`
    const columns = 'email text primary key, born date not null, note text check (length(note) < 40)'
    const { id, table, path } = await addConnection(columns, [
      'email,born,note',
      `${email},2000-01-01,`,
      `${email},2000-01-02,`,
      `${canary},${canary},${canary}`,
      `x,,${canary}`,
      `y,2000-01-01,${canary.repeat(3)}`,
    ])
    const transfer = await run(id)
    assert.deepEqual(transfer.records, { read: 5, sent: 5, accepted: 1, rejected: 4 })
    const seen = [
      JSON.stringify(transfer),
      (await fixture.caller.call('getReplayable', { ...path, transferId: transfer.id })).text,
      (await fixture.caller.call('listTransfers', path)).text,
      (await fixture.caller.call('listAudit')).text,
      await dumpDatabase(fixture.service.database.pool),
      ...fixture.service.logLines,
    ]
    for (const text of seen) assert.deepEqual(placesOf(canary.slice(0, 12), text), [])
    assert.match((await rejectsOf(id, transfer.id)).text, new RegExp(canary))
    await fixture.target.query(`truncate ${table}`)
    const again = await fixture.caller.call('replayTransfer', { ...path, transferId: transfer.id })
    await fixture.ended(id, again.response.id)
    assert.deepEqual((await fixture.target.query(`select email from ${table}`)).rows, [{ email }])
  })

  test('a password is found in no reply, log line or row, though the database refuses it', async () => {
    const { caller, service } = fixture
    const canary = `canary-${randomBytes(8).toString('hex')}`
    const { id: accountId } = await caller.addAccount()
    await caller.addConnectors(accountId, localFolder, postgresql)
    const configure = (id: string, secretConfig: Record<string, string | number>) =>
      caller.expect(caller.call('configureConnector', { accountId, id, body: { secretConfig } }))
    await configure(localFolder.id, { folder: fixture.folder })
    await configure(postgresql.id, { ...postgresqlSecrets(service.databaseUrl), user: 'nobody', password: canary })
    const body = {
      name: 'Refused',
      srcConnectorId: localFolder.id,
      destConnectorId: postgresql.id,
      srcConnectionConfig: { files: await addFile('name', 'Ada') },
      destConnectionConfig: { table: 'people', writeMode: 'Insert' },
    }
    const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
    await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
    const { id: transferId } = await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
    const ended = await until('it has ended', async () => {
      const { response } = await caller.call('getTransfer', { accountId, id, transferId })
      return response.finishedTime === null ? undefined : response
    })
    assert.deepEqual([ended.status, ended.error?.code], ['failed', 'invalid_credentials'])
    assert.equal((await caller.expect(caller.call('getConnection', { accountId, id }))).status, 'broken')
    const check = await caller.call('checkConnector', { accountId, id: postgresql.id })
    assert.equal(check.response.ok, false)
    assert.deepEqual(check.response.checks.map(({ name, ok }) => [name, ok]).at(-1), ['authentication', false])
    const { code, side, connectorId } = check.response.error ?? {}
    assert.deepEqual([code, side, connectorId], ['invalid_credentials', 'source', postgresql.id])
    const seen = [JSON.stringify(ended), check.text, ...service.logLines, await dumpDatabase(service.database.pool)]
    for (const text of seen) assert.deepEqual(placesOf(canary.slice(0, 12), text), [])
  })
})

test('what a destination folder is given is named by the transfer, and whole', async () => {
  const id = await fixture.connect(localFolder, { files: await addFile('name', 'Ada', 'Grace') }, localFolder, {
    subfolder: 'whole',
  })
  await run(id)
  const names = await readdir(join(fixture.folder, 'whole'))
  assert.equal(names.length, 1)
  assert.match(await readFile(join(fixture.folder, 'whole', names[0] ?? ''), 'utf8'), /Ada\r?\nGrace/)
})
