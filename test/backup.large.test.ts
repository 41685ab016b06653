import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { dump } from '../packages/server/src/db/backup/dump.ts'
import { splitLines } from '../packages/server/src/db/backup/format.ts'
import { load, readHeader } from '../packages/server/src/db/backup/load.ts'
import { applyMigrations, migrate } from '../packages/server/src/db/migrate.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { migrationsFolder } from '../packages/server/src/places.ts'
import { makeDataKey } from '../packages/server/src/secrets/data-keys.ts'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { places, sealJson } from '../packages/server/src/transfers/sealed.ts'
import { startDue } from '../packages/server/src/transfers/supervisor/due-schedules.ts'
import { type Commands, commandsOn } from './harness/commands.ts'
import { firstConfiguration } from './harness/configurations.ts'
import { addAccountWithConnection, makeInbox } from './harness/connections.ts'
import { createEmptyDatabase, createTestDatabase } from './harness/database.ts'
import { engineOf } from './harness/engine-of.ts'
import { callerOf, destination, destinationSecrets, source, sourceSecrets } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { loadAccounts, prepareToLoad } from './harness/many-connections.ts'
import { prepareStage, type Stage, tokenOf } from './harness/process.ts'
import { assertKeyOpens, saveSecrets } from './harness/saved-secrets.ts'
import { startServiceOn, type TestService } from './harness/service.ts'
import { withSession } from './harness/session.ts'
import { claimed } from './harness/standings.ts'
import { addStreamWithKey, basic } from './harness/streams.ts'
import { until } from './harness/until.ts'
import { addPerson, invite } from './harness/users.ts'

/** `penstock backup` and `penstock restore`. */

type Database = { url: string; key: string; commands: Commands; sql(text: string): Promise<Record<string, unknown>[]> }

async function on(t: TestContext, stage: Stage, key: string, create: typeof createTestDatabase): Promise<Database> {
  const { url, drop } = await create()
  t.after(drop)
  const commands = commandsOn(stage, { DATABASE_URL: url, PENSTOCK_MASTER_KEY: key })
  return { url, key, commands, sql: (text) => withSession(url, async (session) => (await session.query(text)).rows) }
}

async function prepare(t: TestContext, from = createTestDatabase) {
  const stage = await prepareStage(t)
  const key = randomBytes(32).toString('base64')
  return {
    stage,
    key,
    file: join(stage.base, 'penstock.backup'),
    from: await on(t, stage, key, from),
    to: await on(t, stage, key, createEmptyDatabase),
  }
}

/**
 * Every row of every table of the service, as text, by table. Skipped tables are empty, and the restore itself is not recorded.
 */
async function contents({ url }: Pick<Database, 'url'>, ...leftOut: string[]): Promise<Record<string, string[]>> {
  return withSession(url, async (session) => {
    await session.query(`set timezone = 'UTC'`)
    const { rows: tables } = await session.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'penstock_migrations' order by 1`,
    )
    const found: Record<string, string[]> = {}
    for (const { name } of tables) {
      if (leftOut.includes(name)) continue
      const { rows } = await session.query<{ row: string }>(
        `select t::text as row from ${name} t where t::text not like '(deployment,%' order by 1`,
      )
      // A difference in thousands of rows would be printed row by row.
      found[name] =
        rows.length > 200
          ? [createHash('sha256').update(JSON.stringify(rows)).digest('hex')]
          : rows.map(({ row }) => row)
    }
    return found
  })
}

const organization = `insert into organizations (id, name, owner_id, owner_email) values ('o', 'O', 'p', 'o@example.com')`

/** Fills a database with one row of each kind, through the service if it has an operation for that. */
async function fill(t: TestContext, database: Database) {
  const inbox = await makeInbox()
  t.after(inbox.remove)
  const env = { ...inbox.env, PENSTOCK_MASTER_KEY: database.key }
  const service = await startServiceOn(database.url, env)
  const organization = await service.addOrganization()
  const caller = callerOf(service, organization)
  await addPerson(service, organization, { role: 'owner' })
  await invite(service, organization)
  await caller.expect(caller.call('createWebhook', { body: { url: 'https://hooks.example.com/' } }))
  const account = await caller.addAccountWithSides('Ünïted "Acme" \\ \u2028')
  await caller.configureSides(account.id)
  const deleted = await caller.createConnection(account.id, 'Deleted')
  await caller.expect(caller.call('deleteConnection', { accountId: account.id, id: deleted.id }))
  const connection = await addAccountWithConnection(caller, inbox.folder)
  const waiting = await addAccountWithConnection(caller, inbox.folder)
  await caller.expect(caller.call('setSchedule', { ...connection, body: { cron: '0 6 * * *' } }))
  for (const { accountId, id } of [connection, waiting])
    await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
  const { keyring } = service.service.deps
  const { id: keyId, key } = await service.database.transaction((tx) => makeDataKey(tx, keyring))
  const cursor = sealJson(key, places.cursor(connection.id), 'm5')
  await service.database.pool.query('insert into connection_states (connection_id, data_key_id) values ($1, $2)', [
    connection.id,
    keyId,
  ])
  await service.database.pool.query(claimed('connection_id = $1'), [connection.id])
  await service.database.pool.query(
    `with read as (
       update transfers set read = 5, sent = 5, accepted = 3, rejected = 2, bytes = 50 where connection_id = $1 returning id
     )
     update transfer_parts set read = 5, accepted = 3, rejected = 2, cursor_sealed = $2 where transfer_id = (select id from read)`,
    [connection.id, cursor],
  )
  await service.database.pool.query(
    `insert into ledger (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes)
     select id, 1, organization_id, account_id, connection_id, '2026-01-01', 5, 3, 2, 0, 50 from transfers where connection_id = $1`,
    [connection.id],
  )
  await service.database.pool.query(`update accounts set volume = 3 where id = $1`, [connection.accountId])
  await service.database.pool.query(`update connections set total_volume = 5, used_volume = 3 where id = $1`, [
    connection.id,
  ])
  await service.database.pool.query(
    `insert into rejects (transfer_id, number, row, count, field, record, sealed)
     select id, 1, 4, 2, 'It has a "quote", a \\ and a line' || chr(10) || 'break', '{"b":1,  "a":[null]}', '\\x00ff0a'
     from transfers where connection_id = $1`,
    [connection.id],
  )
  const stream = await addStreamWithKey(caller, account.id)
  for (const messageId of ['m1', 'm2'])
    assert.equal((await sendEvent(service, stream, { messageId, text: 'an event of the backup' })).accepted, 1)
  await assertInvariants(service.database.pool)
  await service.close()
  return { env, account, connection, waiting, cursor, stream }
}

async function sendEvent(service: TestService, { id, key }: { id: string; key: string }, event: object) {
  const headers = { authorization: basic(key), 'content-type': 'application/json' }
  const { text } = await service.send({ method: 'POST', path: `/events/${id}`, headers, body: JSON.stringify(event) })
  return JSON.parse(text).response as { accepted: number; duplicates: number }
}

describe('a backup', { concurrency: 2 }, () => {
  test('holds everything, with its secrets sealed, and is restored as it was', async (t) => {
    const { stage, key, file, from, to } = await prepare(t)
    const { env, account, connection, waiting, cursor, stream } = await fill(t, from)
    const said = await from.commands.done('backup', file)
    assert.match(
      said,
      /^Backed up [\d,]+ rows to .*penstock\.backup \([\d,]+ bytes\)\. Its secrets open with the master key \w{16}, which is not in it.*\n$/,
    )
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const plain = gunzipSync(await readFile(file)).toString()
    for (const secret of [key, sourceSecrets.secretAccessKey, destinationSecrets.password, stream.key, 'an event of'])
      assert(!plain.includes(secret))
    assert.match(await from.commands.fails(1, 'backup', file), /already exists/)
    assert.deepEqual(
      (await readdir(stage.base)).filter((name) => name.includes('unfinished')),
      [],
    )

    const words = await to.commands.done('restore', file)
    assert.match(
      words,
      /^Restored [\d,]+ rows .*the master key opens every secret in it\.\n2 transfers that had not ended then are failed\.\nSchedules are paused.*penstock schedules resume\n$/,
    )
    const changed = [
      'tokens',
      'user_sessions',
      'user_links',
      'alert_checks',
      // The restore itself.
      'audit_queue',
      'transfers',
      'active_transfers',
      'transfer_parts',
      'transfer_totals',
      'connection_states',
      'schedule_pauses',
    ]
    const grows = ['events', 'webhook_deliveries', 'rejecting_transfers']
    const [was, is] = [await contents(from), await contents(to)]
    for (const table of changed) for (const found of [was, is]) delete found[table]
    // The transfers that failed with the restore are events, which are queued after the existing ones.
    for (const table of grows) {
      assert.deepEqual(
        is[table]?.filter((row) => was[table]?.includes(row)),
        was[table],
        table,
      )
      is[table] = was[table] ?? []
    }
    assert.deepEqual(is, was)
    const queued = 'select number::int from webhook_deliveries order by number'
    const [before, after] = [await from.sql(queued), await to.sql(queued)]
    assert(before.length > 0)
    assert.deepEqual([after.length, after.slice(0, before.length)], [before.length + 2, before])
    for (const table of ['tokens', 'user_sessions', 'user_links'])
      assert.deepEqual(await to.sql(`select from ${table}`), [], table)
    assert.equal((await to.sql('select from users')).length, 2)
    const {
      rows: [reject],
    } = await withSession(to.url, (session) => session.query('select record::text, sealed from rejects'))
    assert.deepEqual(reject, { record: '{"b":1,  "a":[null]}', sealed: Buffer.from('00ff0a', 'hex') })
    assert.deepEqual(
      await to.sql(
        `select connection_id, t.status, p.status as of_part, t.error_code, t.read, heartbeat_time
         from transfers t join transfer_parts p on p.transfer_id = t.id order by t.read desc`,
      ),
      [
        {
          connection_id: connection.id,
          status: 'failed',
          of_part: 'skipped',
          error_code: 'restored',
          read: '5',
          heartbeat_time: null,
        },
        {
          connection_id: waiting.id,
          status: 'failed',
          of_part: 'skipped',
          error_code: 'restored',
          read: '0',
          heartbeat_time: null,
        },
      ],
    )
    assert.deepEqual(await to.sql('select connection_id, cursor_sealed as cursor from connection_states'), [
      { connection_id: connection.id, cursor },
    ])

    const service = await startServiceOn(to.url, env)
    t.after(service.close)
    await assertInvariants(service.database.pool)
    const owner = await firstConfiguration(service.database, { accountId: account.id, connectorId: source.id })
    const opened = await openSecrets(service.database, service.service.deps.keyring, owner)
    assert.equal(opened.secretAccessKey, sourceSecrets.secretAccessKey)
    assert(destination.id)

    // Events were acknowledged, so they are there, and are known if they are sent again.
    assert.deepEqual((await to.sql('select sum(count)::int as events from stream_batches'))[0], { events: 2 })
    const repeated = await sendEvent(service, stream, { messageId: 'm2' })
    assert.deepEqual([repeated.accepted, repeated.duplicates], [0, 1])
    const { accepted } = await sendEvent(service, stream, { messageId: 'm3' })
    assert.equal(accepted, 1)

    // The triggers count again.
    await to.sql(`update connections set status = 'disabled', previous_status = 'active' where id = '${waiting.id}'`)
    await assertInvariants(service.database.pool)

    const log = createLogger('silent')
    await to.sql(`update schedules set next_time = now() - interval '1 day'`)
    const scheduled = () => to.sql(`select id from transfers where trigger = 'schedule'`)
    await startDue(engineOf(service), log)
    assert.deepEqual(await scheduled(), [], 'schedules are paused')
    const [pausedSince, resumedSince] = [
      /^ok {4}schedules +warning: Schedules are paused since \S+Z, when a backup was restored: .* penstock schedules resume$/m,
      /^ok {4}schedules +not paused$/m,
    ]
    assert.match(await to.commands.done('doctor'), pausedSince)
    assert.deepEqual(await to.commands.json('schedules', 'resume'), { resumed: true })
    assert.deepEqual(await to.commands.json('schedules', 'resume'), { resumed: false })
    assert.match(await to.commands.done('doctor'), resumedSince)
    await startDue(engineOf(service), log)
    assert.equal((await scheduled()).length, 1)
    assert.deepEqual(await to.commands.json('schedules', 'pause'), { paused: true })
    await to.sql(`update schedules set next_time = now() - interval '1 day'`)
    await to.sql(`update transfers set status = 'succeeded', finished_time = now() where status = 'queued'`)
    await startDue(engineOf(service), log)
    assert.equal((await scheduled()).length, 1)
    assert.match(await to.commands.fails(1, 'restore', file), /not empty.*Nothing was changed/)
    assert.equal(stage.base.length > 0, true)
  })

  test('is a consistent snapshot, whatever is written meanwhile', async (t) => {
    const { file, from, to, stage } = await prepare(t)
    await from.sql(organization)
    await from.sql(`insert into environments (name, id, host) values ('production', 'e', 'h')`)
    // The backup reads its tables one after the other, and stops at the first table that it cannot read yet.
    await withSession(from.url, async (session) => {
      await session.query('begin; lock table environments in access exclusive mode')
      const { DATABASE_URL, PENSTOCK_MASTER_KEY } = { DATABASE_URL: from.url, PENSTOCK_MASTER_KEY: from.key }
      const backup = stage.start('penstock', ['backup', file], { env: { DATABASE_URL, PENSTOCK_MASTER_KEY } })
      await until('the backup waits', async () => {
        if (backup.hasEnded) assert.fail(backup.said.stderr)
        return (
          (await from.sql(`select from pg_locks where not granted and relation = 'environments'::regclass`)).length > 0
        )
      })
      await from.sql(`insert into clients (id, organization_id, secret_digest) values ('late', 'o', '')`)
      await session.query('commit')
      assert.equal((await backup.ended).code, 0, backup.said.stderr)
    })
    await to.commands.done('restore', file)
    assert.deepEqual(await to.sql('select id from clients'), [])
    assert.deepEqual(await to.sql('select id from organizations'), [{ id: 'o' }])
  })

  test('of 10,000 connections is restored', async (t) => {
    const { file, from, to } = await prepare(t)
    await withSession(from.url, async (session) => {
      await prepareToLoad(session)
      await loadAccounts(session, { first: 0, last: 99, connectionsEach: 100 })
    })
    await from.commands.done('backup', file)
    const { tables } = await to.commands.json<{ tables: Record<string, number> }>('restore', file)
    assert.equal(tables.connections, 10_000)
    assert.deepEqual(
      await contents(to, 'schedule_pauses', 'audit_queue'),
      await contents(from, 'schedule_pauses', 'audit_queue'),
    )
  })

  test('of an earlier version is restored as it would have been migrated', async (t) => {
    const { from, to } = await prepare(t)
    await fill(t, from)
    const folder = await mkdtemp(join(tmpdir(), 'penstock-migrations-'))
    t.after(() => rm(folder, { recursive: true }))
    await cp(migrationsFolder, folder, { recursive: true })
    await writeFile(
      join(folder, '9999_later.sql'),
      `alter table accounts add column upper_name text;
       update accounts set upper_name = upper(name);
       create table account_names (account_id text primary key, name text);
       insert into account_names select id, name from accounts;`,
    )
    const pieces: string[] = []
    await withSession(from.url, async (session) => {
      for await (const piece of dump(session, {})) pieces.push(piece)
      await applyMigrations(session, undefined, folder)
    })
    const restore = ({ url }: Database) =>
      withSession(url, async (session) => {
        const lines = splitLines(Readable.from(pieces.map((piece) => Buffer.from(piece))))
        await load(session, await readHeader(lines), lines, async () => {}, folder)
      })
    await restore(to)
    const [was, is] = [await contents(from), await contents(to)]
    for (const table of ['tokens', 'user_sessions', 'user_links', 'alert_checks'])
      for (const found of [was, is]) delete found[table]
    assert.deepEqual(is, was)
    assert(is.account_names?.length)

    const migrated = await on(t, await prepareStage(t), from.key, createEmptyDatabase)
    await withSession(migrated.url, (session) => applyMigrations(session, undefined, folder))
    await assert.rejects(restore(migrated), /of an earlier version.* create a new database/)
  })
})

describe('a restore', { concurrency: 2 }, () => {
  const isUntouched = async ({ sql }: Database) => {
    const tables = await sql(`select tablename from pg_tables where schemaname = 'public'`)
    assert.deepEqual(tables, [])
  }

  test('that is killed halfway leaves the database as it was, and is done again', async (t) => {
    const { stage, file, from, to, key } = await prepare(t)
    await fill(t, from)
    await from.commands.done('backup', file)
    // Into tables that are there and empty: it can be held up at one of them.
    await migrate(to.url)
    const before = await contents(to)
    await withSession(to.url, async (session) => {
      await session.query('begin; lock table rejects in access share mode; lock table schedules in share mode')
      const env = { DATABASE_URL: to.url, PENSTOCK_MASTER_KEY: key }
      const restore = stage.start('penstock', ['restore', file], { env })
      await until('it waits', async () => {
        if (restore.hasEnded) assert.fail(restore.said.stderr)
        return (
          (
            await to.sql(
              `select from pg_locks where not granted and relation is not null and database = (select oid from pg_database where datname = current_database())`,
            )
          ).length > 0
        )
      })
      restore.signal('SIGKILL')
      await restore.ended
      await session.query('rollback')
    })
    await until(
      'its session ends',
      async () =>
        (
          await to.sql(
            `select from pg_stat_activity where datname = current_database() and application_name = 'penstock restore'`,
          )
        ).length === 0,
    )
    assert.deepEqual(await contents(to), before)
    await to.commands.done('restore', file)
    assert.equal((await to.sql('select from connections')).length, (await from.sql('select from connections')).length)
  })

  test('refuses a file that is cut short, damaged, altered, of a newer version or no backup', async (t) => {
    const { file, from, to } = await prepare(t)
    await fill(t, from)
    await from.commands.done('backup', file)
    const whole = await readFile(file)
    const lines = gunzipSync(whole).toString().split('\n')
    const rowOf = (table: string) => lines.indexOf(JSON.stringify({ table })) + 1
    const altered = (change: (copy: string[]) => void) => {
      const copy = [...lines]
      change(copy)
      return gzipSync(copy.join('\n'))
    }
    const header = JSON.parse(lines[0] ?? '')
    const cases: [string, Buffer, RegExp][] = [
      ['cut', whole.subarray(0, whole.length - 100), /is not complete/],
      ['cut within its lines', gzipSync(lines.slice(0, -5).join('\n')), /is not complete|damaged/],
      ['cut after its last table', gzipSync(`${lines.slice(0, -2).join('\n')}\n`), /is not complete/],
      [
        'a byte changed',
        Buffer.from(whole).fill(0xff, whole.length >> 1, (whole.length >> 1) + 1),
        /damaged|not complete/,
      ],
      [
        'a row altered',
        altered((copy) => {
          copy[rowOf('accounts')] = copy[rowOf('accounts')]?.replace('Acme', 'Acmf') ?? ''
        }),
        /damaged/,
      ],
      ['a row removed', altered((copy) => copy.splice(rowOf('connection_counts'), 1)), /damaged/],
      [
        'a newer migration',
        altered((copy) => {
          copy[0] = JSON.stringify({
            ...header,
            migrations: [...header.migrations, { name: '9999_newer', digest: 'x' }],
          })
        }),
        /newer version/,
      ],
      [
        'a migration of another content',
        altered((copy) => {
          copy[0] = JSON.stringify({ ...header, migrations: [{ ...header.migrations[0], digest: 'x' }] })
        }),
        /restore it with the version that made it/,
      ],
      [
        'a newer format',
        altered((copy) => {
          copy[0] = JSON.stringify({ ...header, version: 2 })
        }),
        /newer version/,
      ],
      ['no backup', Buffer.from('select 1;\n'), /not a backup/],
      ['gzip of no backup', gzipSync('{"format":"other"}\n'), /not a backup/],
      ['nothing', Buffer.alloc(0), /not a backup|not complete/],
    ]
    for (const [what, content, says] of cases) {
      await writeFile(file, content)
      const said = await to.commands.fails(1, 'restore', file)
      assert.match(said, says, what)
      assert(!said.includes('Acme'), said)
      await isUntouched(to)
    }
    assert.match(await to.commands.fails(1, 'restore', `${file}.none`), /cannot be read \(ENOENT\)/)
  })

  test('with another master key says so and changes nothing', async (t) => {
    const { stage, file, from, to } = await prepare(t)
    await fill(t, from)
    await from.commands.done('backup', file)
    const other = commandsOn(stage, { DATABASE_URL: to.url, PENSTOCK_MASTER_KEY: randomBytes(32).toString('base64') })
    assert.match(
      await other.fails(1, 'restore', file),
      /master key does not match this backup: .*sealed under key \w{16}.*Nothing was restored/,
    )
    await isUntouched(to)
  })

  test('with a key that opens the keyring and not every secret says so and changes nothing', async (t) => {
    const { file, from, to } = await prepare(t)
    await fill(t, from)
    await from.sql(
      `update secrets set sealed = set_byte(sealed, 40, 255 - get_byte(sealed, 40)) where connector_id = '${source.id}'`,
    )
    await from.commands.done('backup', file)
    assert.match(await to.commands.fails(1, 'restore', file), /does not open: it was altered/)
    await isUntouched(to)
  })

  test('leads from the embedded database to one of your own, and back', async (t) => {
    const { stage, file, to } = await prepare(t)
    const served = await stage.serve()
    const token = await tokenOf(served, stage.dataDirectory)
    const accountId = await saveSecrets(served, token)
    const embedded = commandsOn(stage)
    await embedded.done('backup', file)
    served.signal('SIGTERM')
    await served.ended
    const masterKey = (await readFile(join(stage.dataDirectory, 'master.key'), 'utf8')).trim()
    const own = commandsOn(stage, { DATABASE_URL: to.url, PENSTOCK_MASTER_KEY: masterKey })
    await own.done('restore', file)
    await assertKeyOpens(to.url, masterKey, [accountId])

    const back = join(stage.base, 'back.backup')
    await own.done('backup', back)
    const empty = await prepareStage(t)
    await mkdir(empty.dataDirectory)
    const fresh = commandsOn(empty)
    assert.match(await fresh.fails(1, 'restore', back), /master key is missing\. Restore the file .*master\.key from/)
    await writeFile(join(empty.dataDirectory, 'master.key'), masterKey)
    await fresh.done('restore', back)
    const again = await empty.serve()
    await until('its log says that schedules are paused', () =>
      again.said.stderr.includes('"msg":"Schedules are paused since '),
    )
    await tokenOf(again, stage.dataDirectory)
    await assertKeyOpens(await empty.databaseUrl(), masterKey, [accountId])
  })
})
