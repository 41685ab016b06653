import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createLogger } from '../packages/server/src/log.ts'
import { createSampleDatabase, removeSampleDatabases, sampleBounds } from '../packages/server/src/samples/provision.ts'
import { holdSamples } from '../packages/server/src/samples/watch.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { callerOf, connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { startServiceOn, startTestService } from './harness/service.ts'
import { type Fixture, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Sample data in a separate database: what is created, what is removed, and what its role can access. */

const fileUpload = connectorBySlug('file-upload')
const postgresql = connectorBySlug('postgresql')
const people =
  'id,email,given_name,family_name,city,country,born\n1,lia@example.com,Lia,Huber,Graz,AT,1990-01-02\nx,a@example.com,A,B,Porto,PT,n/a\n3,omar@example.com,Omar,Rao,Lyon,FR,1984-11-30\n'

type Caller = Fixture['caller']
const masterKey = generateMasterKey()
let fixture: Fixture
before(async () => {
  fixture = await startFixture({ PENSTOCK_MASTER_KEY: masterKey })
  await fixture.startWorker()
})
after(() => fixture.close())

const upload = async (caller: Caller, accountId: string): Promise<string> => {
  const body = new TextEncoder().encode(people)
  return (await caller.expect(caller.call('createUpload', { accountId, query: { name: 'people.csv' }, body }))).id
}
const create = async (caller: Caller, accountId: string) => {
  const uploadId = await upload(caller, accountId)
  return caller.expect(caller.call('createSample', { accountId, body: { uploadId } }))
}
/** Databases and roles of samples that the server has of this service. */
const left = async (): Promise<string[]> => {
  const { rows } = await fixture.service.database.pool.query(
    `select datname as name from pg_database where starts_with(datname, $1)
     union select rolname from pg_roles where starts_with(rolname, $1)`,
    [`penstock_sample_${await oid()}_`],
  )
  return rows.map(({ name }) => name)
}
const oid = async (): Promise<string> => {
  const { rows } = await fixture.service.database.pool.query(
    'select oid::text from pg_database where datname = current_database()',
  )
  return rows[0].oid
}
const connectAs = async ({ database = '', user = '', password = '' }) => {
  const { hostname, port } = new URL(fixture.service.databaseUrl)
  const client = new pg.Client({ host: hostname, port: Number(port), database, user, password })
  client.on('error', () => {})
  await client.connect()
  return client
}

test('a sample has its rows in a table, shows them, and is removed with everything', async () => {
  const { caller } = fixture
  const { id: accountId } = await caller.addAccount('First steps')
  const sample = await create(caller, accountId)
  assert(sample.connectionId && sample.transferId && sample.database)
  const { connectionId: id, transferId } = sample
  const transfer = await until('the transfer has ended', async () => {
    const now = await caller.expect(caller.call('getTransfer', { accountId, id, transferId }))
    return now.finishedTime === null ? undefined : now
  })
  assert.equal(transfer.status, 'partial', JSON.stringify(transfer.error))
  assert.deepEqual(transfer.records, { read: 3, sent: 3, accepted: 2, rejected: 1 })
  const { columns, rows } = await caller.expect(caller.call('previewSample', { accountId }))
  assert.equal(columns[0], 'id')
  assert.equal(rows.length, 2)
  const { secretConfig } = await caller.expect(
    caller.call('getConnectorConfiguration', { accountId, id: postgresql.id }),
  )
  assert.match(JSON.stringify(secretConfig), /penstock_sample_/)
  assert(!/"value":"(?!\*)[^"]*"[^}]*"name":"password"/.test(JSON.stringify(secretConfig)))

  // Its connector is in use: it is not pulled away from another connection.
  const body = { name: 'Mine', srcConnectorId: fileUpload.id, destConnectorId: postgresql.id }
  const { id: mine } = await caller.expect(caller.call('createConnection', { accountId, body }))
  const refused = await caller.call('deleteSample', { accountId })
  assert.equal(refused.error, 'connector_in_use')
  assert.deepEqual(refused.details, [{ field: `connection.${mine}`, message: 'Mine uses this connector' }])
  assert((await left()).includes(sample.database))
  await caller.expect(caller.call('deleteConnection', { accountId, id: mine }))

  await caller.expect(caller.call('deleteSample', { accountId }))
  assert.deepEqual(await left(), [])
  assert.deepEqual((await caller.expect(caller.call('listAddedConnectors', { accountId }))).length, 0)
  assert.deepEqual((await caller.expect(caller.call('listUploads', { accountId }))).length, 0)
  assert.equal((await caller.call('deleteSample', { accountId })).status, 404)
  assert.equal((await caller.call('previewSample', { accountId })).status, 404)
  const now = await caller.expect(caller.call('getSample', { accountId }))
  assert.deepEqual([now.available, now.connectionId], [true, null])
  await assertInvariants(fixture.service.database.pool)
})

test('many calls at once, in two processes, make one sample; another organization has one of its own', async () => {
  const { caller, service } = fixture
  const second = await startServiceOn(service.databaseUrl, {
    PENSTOCK_MASTER_KEY: masterKey,
  })
  try {
    const { id: accountId } = await caller.addAccount()
    const uploadId = await upload(caller, accountId)
    const calls = [service, second, service, second].map((one) =>
      one.call('createSample', { token: fixture.token, accountId, body: { uploadId } }),
    )
    const answers = await Promise.all(calls)
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 201])
    const [database] = new Set(answers.map(({ response }) => response.database))
    assert.equal(new Set(answers.map(({ response }) => response.transferId)).size, 1)
    assert.deepEqual(await left(), [database])

    const others = callerOf(service, await service.addOrganization())
    const { id: otherId } = await others.addAccount()
    const other = await create(others, otherId)
    assert.notEqual(other.database, database)
    assert.equal((await left()).length, 2)
    assert.equal((await others.call('createSample', { accountId, body: { uploadId } })).status, 404)
    await others.expect(others.call('deleteSample', { accountId: otherId }))
    await caller.expect(caller.call('deleteSample', { accountId }))
    assert.deepEqual(await left(), [])
  } finally {
    await second.close()
  }
})

test('what an interrupted attempt left is removed by the next one, which starts over', async () => {
  const { caller, service } = fixture
  const { id: accountId } = await caller.addAccount()
  // As after a crash between the database and the commit, and one between the role and the database.
  const server = { url: service.databaseUrl }
  await createSampleDatabase(server, [])
  const role = `penstock_sample_${await oid()}_0123456789ab`
  await service.database.pool.query(`create role ${role}`)
  assert.equal((await left()).length, 2)
  const { database, connectionId } = await create(caller, accountId)
  assert.deepEqual(await left(), [database])
  // Its connection was deleted apart from it.
  await caller.expect(caller.call('deleteConnection', { accountId, id: connectionId ?? '' }))
  const again = await create(caller, accountId)
  assert.notEqual(again.connectionId, connectionId)
  assert.deepEqual(await left(), [again.database])
  await caller.expect(caller.call('deleteSample', { accountId }))
})

test('the role gets to nothing but its own database', async () => {
  const { service } = fixture
  const server = { url: service.databaseUrl }
  const own = await createSampleDatabase(server, [])
  const other = await createSampleDatabase(server, [own.name])
  const { name: user, password } = own
  const serviceDatabase = decodeURIComponent(new URL(service.databaseUrl).pathname.slice(1))
  for (const database of [serviceDatabase, 'postgres', 'template1', 'template0', other.name]) {
    await assert.rejects(
      connectAs({ database, user, password }),
      /permission denied for database|not currently accepting/,
    )
  }
  const session = await connectAs({ database: user, user, password })
  try {
    const refused = [
      'create extension dblink',
      'create extension postgres_fdw',
      'create extension file_fdw',
      'create extension plpython3u',
      'create role other',
      'create database other',
      'create schema other',
      "create tablespace other location '/tmp'",
      'create server other foreign data wrapper postgres_fdw',
      'create publication other for all tables',
      "create subscription other connection 'dbname=penstock' publication other",
      "create function f() returns int language c as 'libc.so.6', 'getpid'",
      'create event trigger e on ddl_command_end execute function public.f()',
      "alter system set log_statement = 'all'",
      `alter role ${user} superuser`,
      `alter role ${user} connection limit 100`,
      `alter database ${user} connection limit 100`,
      `drop database ${serviceDatabase}`,
      `alter role penstock password 'x'`,
      'set role penstock',
      'set session authorization penstock',
      'set temp_file_limit = -1',
      "set log_statement = 'all'",
      "load 'auto_explain'",
      `copy public.people to '/tmp/people'`,
      `copy public.people to program 'cat'`,
      `copy public.people from '/etc/passwd'`,
      "select pg_read_file('/etc/passwd')",
      "select pg_ls_dir('/')",
      "select lo_import('/etc/passwd')",
      'select * from pg_authid',
      'select * from pg_hba_file_rules',
      'select * from pg_subscription',
      'select pg_reload_conf()',
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${serviceDatabase}'`,
      `select * from ${serviceDatabase}.public.accounts`,
    ]
    for (const statement of refused) {
      await assert.rejects(session.query(statement), (error: Error) => error instanceof pg.DatabaseError, statement)
    }
    const { rows } = await session.query(
      `select query from pg_stat_activity where usename <> current_user and query not in ('', '<insufficient privilege>')`,
    )
    assert.deepEqual(rows, [])
    const { rows: readable } = await session.query(
      `select datname from pg_database where has_database_privilege(datname, 'connect') and datname = any ($1)`,
      [[serviceDatabase, 'postgres', 'template1', other.name]],
    )
    assert.deepEqual(readable, [])
    // It is bounded, and has what its connector needs.
    const more = await Promise.all([1, 2, 3].map(() => connectAs({ database: user, user, password })))
    await assert.rejects(connectAs({ database: user, user, password }), /too many connections/)
    await Promise.all(more.map((one) => one.end()))
    await session.query('create table mine (id int); create temporary table tried (id int); drop table mine')
  } finally {
    await session.end()
  }
  // Databases of other services on this server stay.
  await removeSampleDatabases(server, [])
  assert.deepEqual(await left(), [])
})

/** Looks at the samples of the service until the work has ended, and returns the error of each part of it. */
const holdUntilEnded = async (work: readonly Promise<unknown>[], bounds: Partial<typeof sampleBounds>) => {
  const { database, databaseUrl } = fixture.service
  const watched = { database, server: { url: databaseUrl }, log: createLogger('silent') }
  let ended = false
  const all = Promise.allSettled(work).finally(() => {
    ended = true
  })
  await until('the work has ended', async () => {
    await holdSamples(watched, { ...sampleBounds, ...bounds })
    return ended
  })
  return (await all).map((one) => (one.status === 'rejected' ? String(one.reason) : 'it ended well'))
}

test('statements that never end, transactions that stay open and sessions with many locks are ended', async () => {
  const server = { url: fixture.service.databaseUrl }
  const { name: user, password } = await createSampleDatabase(server, [])
  const connect = () => connectAs({ database: user, user, password })
  const first = await connect()
  const { rows } = await first.query(`select current_setting('statement_timeout') as statements`)
  assert.deepEqual(rows, [{ statements: '1min' }])
  await first.end()
  const endless = [
    'select pg_sleep(600)',
    'select count(*) from generate_series(1, 1000000000) a cross join generate_series(1, 1000000000) b',
    'do $$ begin loop begin perform pg_sleep(600); exception when query_canceled then end; end loop; end $$',
  ]
  const run = async (statement: string) => {
    const session = await connect()
    try {
      await session.query('set statement_timeout = 0')
      await session.query(`alter role ${user} set statement_timeout = 0`).catch(() => {})
      await session.query(statement)
    } finally {
      await session.end()
    }
  }
  for (const error of await holdUntilEnded(endless.map(run), { statementMs: 200 })) assert.match(error, /terminat/i)

  const open = await connect()
  const closed = new Promise((resolve) => open.once('end', resolve))
  await open.query('set idle_in_transaction_session_timeout = 0')
  await open.query('begin')
  assert.deepEqual(await holdUntilEnded([closed], { statementMs: 200 }), ['it ended well'])

  const locking = await connect()
  const unlocked = new Promise((resolve) => locking.once('end', resolve))
  await locking.query('select count(pg_advisory_lock(n)) from generate_series(1, 200) as n')
  assert.deepEqual(await holdUntilEnded([unlocked], { locksMax: 100 }), ['it ended well'])

  const modest = await connect()
  await modest.query('select count(pg_advisory_lock(n)) from generate_series(1, 50) as n')
  await holdUntilEnded([Promise.resolve()], {})
  await modest.query('select 1')
  await modest.end()
  await removeSampleDatabases(server, [])
})

test('a sample that grows without end is emptied, and works again', async () => {
  const { caller, service } = fixture
  const { id: accountId } = await caller.addAccount()
  const { connectionId, transferId, database } = await create(caller, accountId)
  assert(connectionId && transferId && database)
  await until('the transfer has ended', async () => {
    const now = await caller.expect(caller.call('getTransfer', { accountId, id: connectionId, transferId }))
    return now.finishedTime !== null
  })
  // The password is sealed. Another password works as well.
  await service.database.pool.query(`alter role ${database} password 'known'`)
  const connect = () => connectAs({ database, user: database, password: 'known' })
  const sizeOf = async () => {
    const { rows } = await service.database.pool.query('select pg_database_size($1)::bigint as bytes', [database])
    return Number(rows[0].bytes)
  }
  const bytesMax = (await sizeOf()) + 4 * 1024 * 1024
  const grow = [
    `insert into people (id, city) select n, repeat(md5(n::text), 20) from generate_series(1000, 20000) as n`,
    `select lo_from_bytea(0, convert_to(string_agg(md5(n::text), ''), 'UTF8')) from generate_series(1, 300000) as n`,
    'create table copies as select md5(n::text) as text from generate_series(1, 200000) as n',
  ]
  for (const statement of grow) {
    const session = await connect()
    const closed = new Promise((resolve) => session.once('end', resolve))
    await session.query(statement)
    assert((await sizeOf()) > bytesMax, statement)
    assert.deepEqual(await holdUntilEnded([closed], { bytesMax }), ['it ended well'])
    assert((await sizeOf()) < bytesMax)
    const again = await connect()
    assert.deepEqual((await again.query('select count(*)::int as people from people')).rows, [{ people: 0 }])
    await again.end()
  }
  // As after a crash while it was emptied: the service itself looks.
  await service.database.pool.query(`drop database ${database}`)
  await until('the database is there again', async () =>
    (await connect().catch(() => undefined))?.end().then(() => true),
  )
  await caller.expect(caller.call('deleteSample', { accountId }))
  assert.deepEqual(await left(), [])
})

test('without an embedded PostgreSQL that connectors can reach, there is no sample, and the answer says why', async () => {
  const public_ = await startTestService({ PENSTOCK_EGRESS: 'public' })
  try {
    const caller = callerOf(public_, await public_.addOrganization())
    const { id: accountId } = await caller.addAccount()
    const sample = await caller.expect(caller.call('getSample', { accountId }))
    assert.deepEqual([sample.available, sample.obstacle], [false, 'network_policy'])
    const uploadId = await upload(caller, accountId)
    const answer = await caller.call('createSample', { accountId, body: { uploadId } })
    assert.equal(answer.error, 'sample_not_available')
    assert.match(answer.details[0]?.message ?? '', /PENSTOCK_EGRESS/)
  } finally {
    await public_.close()
  }
})
