import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { checkNames } from '../packages/server/src/cli/doctor.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { generateMasterKey, parseMasterKey } from '../packages/server/src/secrets/seal.ts'
import { commandsOn, databaseLine } from './harness/commands.ts'
import { createTestDatabase, type TestDatabase } from './harness/database.ts'
import { createOddDatabase } from './harness/odd-settings.ts'
import { freePort, prepareStage, type Stage } from './harness/process.ts'
import { withSession } from './harness/session.ts'

/** `penstock doctor`: what works, and what to do about what does not. */

type Check = { name: string; ok: boolean; message: string }

describe('the doctor', () => {
  let stage: Stage
  let database: TestDatabase
  let env: Record<string, string>
  let file: string
  const finish: (() => Promise<void>)[] = []
  before(async () => {
    stage = await prepareStage({ after: (work) => void finish.push(work) })
    database = await createTestDatabase()
    finish.push(database.drop)
    env = { DATABASE_URL: database.url, PENSTOCK_MASTER_KEY: generateMasterKey(), PENSTOCK_PORT: '0' }
    file = join(stage.base, 'a file')
    await writeFile(file, '')
    await mkdir(stage.dataDirectory)
  })
  after(async () => {
    for (const work of finish) await work()
  })

  const examine = async (settings: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await stage.penstock(['doctor', '--json'], { env: { ...env, ...settings } })
    assert.equal(stderr.replace(databaseLine, ''), '')
    const checks: Check[] = JSON.parse(stdout)
    for (const check of checks) assert.deepEqual(Object.keys(check), ['name', 'ok', 'message'])
    for (const secret of ['canary', env.PENSTOCK_MASTER_KEY ?? '']) assert(!stdout.includes(secret))
    return { code, checks, failed: checks.filter(({ ok }) => !ok) }
  }
  const assertFails = async (settings: Record<string, string>, code: 1 | 2, ...expected: [string, RegExp][]) => {
    const found = await examine(settings)
    assert.equal(found.code, code)
    const said = JSON.stringify(found.checks)
    assert.deepEqual(
      found.failed.map(({ name }) => name),
      expected.map(([name]) => name),
      said,
    )
    for (const [i, [, says]] of expected.entries()) assert.match(found.failed[i]?.message ?? '', says)
  }
  const sql = (text: string) => withSession(database.url, (session) => session.query(text))

  test('finds all well, in a line for each part, and exit code 0', async () => {
    // The doctor changes nothing: the first start decides which key belongs to the database.
    const first = await examine()
    assert.deepEqual([first.code, first.failed], [0, []])
    assert.match(first.checks.find(({ name }) => name === 'master key')?.message ?? '', /has no key yet/)
    assert.deepEqual((await sql('select key_id from master_keys')).rows, [])
    const { id } = parseMasterKey(env.PENSTOCK_MASTER_KEY ?? '') ?? {}
    await sql(`insert into master_keys (key_id, current) values ('${id}', true)`)
    const { code, checks, failed } = await examine()
    assert.deepEqual([code, failed, checks.map(({ name }) => name)], [0, [], [...checkNames]])
    const lines = (await commandsOn(stage, env).done('doctor')).trimEnd().split('\n')
    for (const [i, name] of checkNames.entries()) {
      assert.equal(lines[i]?.slice(0, 18), `ok    ${name.padEnd(12)}`)
      // Each run picks another port, and other processes write to the same disk meanwhile.
      if (!/^(?:settings|workers|disk|temporary|clock|listening|public URL)$/.test(name))
        assert.equal(lines[i]?.slice(18), checks[i]?.message)
    }
    assert.equal(lines.length, checkNames.length)
    const read = Object.fromEntries(checks.map(({ name, message }) => [name, message]))
    assert.match(read.settings ?? '', /^http:\/\/127\.0\.0\.1:[1-9]\d*, environment production$/)
    assert.match(
      read.egress ?? '',
      /^serve: .* private addresses, .* listens only on 127\.0\.0\.1\. worker: .* public /,
    )
    assert.match(read.database ?? '', /^warning: PostgreSQL \d+/, 'the server of the tests is not durable')
    assert.match(read['master key'] ?? '', /^key [0-9a-f]+ opens/)
    assert.match(read.disk ?? '', /GiB free at /)
  })

  test('describes the server: JIT compilation, the defaults that sessions change, and risky settings', async (t) => {
    const odd = await createOddDatabase()
    t.after(odd.drop)
    await migrate(odd.url)
    const { checks } = await examine({ DATABASE_URL: odd.url })
    const message = checks.find(({ name }) => name === 'database')?.message ?? ''
    assert.match(
      message,
      /^warning: PostgreSQL \d+\S*\. JIT compilation is off in sessions of Penstock, and on by default; /,
    )
    assert.match(message, /; they also change the defaults of [^.]*DateStyle/)
    assert.deepEqual(message.match(/\w+(?= is off\. )/g), ['fsync', 'full_page_writes', 'synchronous_commit'])
  })

  test('names each bad setting and what it takes, with the exit code of bad settings', () =>
    assertFails(
      { PENSTOCK_WORKER: 'canary', PENSTOCK_MASTER_KEY: 'canary' },
      2,
      ['settings', /^PENSTOCK_MASTER_KEY must be 32 bytes/],
      ['settings', /^PENSTOCK_WORKER must be 1 or 0/],
    ))

  test('says what to do about a database that does not answer, and still checks the disk', async () => {
    const gone = `postgres://someone:canary@127.0.0.1:${await freePort()}/penstock`
    await assertFails({ DATABASE_URL: gone }, 1, [
      'database',
      /^Nothing listens on 127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. .*DATABASE_URL/,
    ])
    const words = await stage.penstock(['doctor'], { env: { ...env, DATABASE_URL: gone } })
    assert.equal(words.code, 1)
    assert.match(
      words.stdout,
      /^ok {4}settings .*\nok {4}egress .*\nFAIL {2}database .*\nok {4}runners .*\nok {4}disk .*\n/,
    )
  })

  test('says what to do about a data directory that cannot be one', () =>
    assertFails({ PENSTOCK_DATA_DIR: join(file, 'below') }, 1, ['disk', /check PENSTOCK_DATA_DIR/]))

  for (const [what, directory, says] of [
    ['holds no key', 'no key', /master\.key does not hold a master key .*: restore the file from a backup/],
    ['cannot be read', 'bad key', /master\.key cannot be used \(EISDIR\): make it a file/],
  ] as const) {
    test(`says what to do about a key file that ${what}`, async (t) => {
      // Its own stage, so that its embedded PostgreSQL is stopped and removed.
      const own = await prepareStage(t, directory)
      // As if it had a database: the key is read before anything is started.
      await mkdir(join(own.dataDirectory, 'postgres', 'data'), { recursive: true })
      const keyFile = join(own.dataDirectory, 'master.key')
      await (directory === 'no key' ? writeFile(keyFile, 'canary-key\n') : mkdir(keyFile))
      const { code, stdout } = await own.penstock(['doctor', '--json'])
      assert.equal(code, 1)
      const failed = (JSON.parse(stdout) as Check[]).filter(({ ok }) => !ok)
      assert.deepEqual(
        failed.map(({ name }) => name),
        ['master key'],
      )
      assert.match(failed[0]?.message ?? '', says)
      assert(!stdout.includes('canary'))
      assert.equal(await own.postmaster(), undefined)
      const command = await own.penstock(['org', 'list'])
      assert.deepEqual([command.code, command.stderr], [1, `penstock: ${failed[0]?.message}\n`])
    })
  }

  test('says what to do about another master key, and with the right one finds all well', () =>
    assertFails({ PENSTOCK_MASTER_KEY: generateMasterKey() }, 1, [
      'master key',
      /does not match this database: .*Set PENSTOCK_MASTER_KEY/,
    ]))

  test('says what to do about a schema that lacks migrations or is newer', async () => {
    await sql(`insert into penstock_migrations (name, digest) values ('9999_to_come', '')`)
    assert.deepEqual((await examine()).failed, [], 'a newer schema serves the version before it')
    await sql(`update penstock_migrations set name = 'x' || name`)
    await assertFails({}, 1, ['migrations', /lacks migrations: run penstock migrate/])
    await sql(`update penstock_migrations set name = ltrim(name, 'x')`)
  })

  test('says what to do about a database that has no tables, and creates none', async (t) => {
    const empty = await createTestDatabase()
    t.after(empty.drop)
    const ofEmpty = { ...env, DATABASE_URL: empty.url }
    const reset = `drop schema public cascade; create schema public`
    await withSession(empty.url, (session) => session.query(reset))
    for (let times = 0; times < 2; times++) {
      await assertFails(
        ofEmpty,
        1,
        ['migrations', /no tables of this version yet: run penstock migrate/],
        ['master key', /cannot be checked until the database answers and is migrated/],
        ...['connectors', 'schedules', 'workers', 'sign-in'].map((name): [string, RegExp] => [
          name,
          /cannot be checked until the database answers and is migrated/,
        ]),
      )
    }
    await commandsOn(stage, ofEmpty).done('migrate')
    const { code, failed } = await examine(ofEmpty)
    assert.deepEqual([code, failed], [0, []])
  })
})
