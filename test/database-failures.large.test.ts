import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, stat } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { commandsOn } from './harness/commands.ts'
import { createEmptyDatabase, createTestDatabase } from './harness/database.ts'
import { startPgBouncer } from './harness/pgbouncer.ts'
import { freePort, prepareStage, tokenOf } from './harness/process.ts'
import { skipWithout } from './harness/programs.ts'
import { withSession } from './harness/session.ts'

/** Messages of commands and of `doctor` about an unusable database: the problem, and the advice. */

const key = randomBytes(32).toString('base64')

/** A server that answers each connection in its own way. Returns its port. */
async function startServer(t: TestContext, answer: (socket: import('node:net').Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    // The client's data is read, so that its end is noticed.
    socket.on('error', () => {}).resume()
    answer(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

describe('a database that cannot be used', { concurrency: 2 }, () => {
  const cases: Record<string, { url: (t: TestContext, server: URL) => Promise<string> | string; says: RegExp }> = {
    'its host is not known': {
      url: () => 'postgres://someone:canary@host.invalid/penstock',
      says: /^The host host\.invalid of the database was not found \(E\w+\)\. Check the host in DATABASE_URL/,
    },
    'nothing listens': {
      url: async () => `postgres://someone:canary@127.0.0.1:${await freePort()}/penstock`,
      says: /^Nothing listens on 127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. Start PostgreSQL there/,
    },
    'the password is wrong': {
      url: (_, server) => Object.assign(new URL(server), { password: 'canary' }).href,
      says: /^The password of the role penstock is wrong \(28P01\)\. Check user and password in DATABASE_URL/,
    },
    'the role does not exist': {
      url: (_, server) => Object.assign(new URL(server), { username: 'stranger', password: 'canary' }).href,
      says: /role stranger .*\. (?:Check user|Create the role)/,
    },
    'the database does not exist': {
      url: (_, server) => new URL('/nowhere', server).href,
      says: /^The database nowhere does not exist on 127\.0\.0\.1:\d+ \(3D000\)\. Create it \(createdb nowhere\)/,
    },
    'TLS is asked for and not offered': {
      url: (_, server) => new URL('?sslmode=verify-full', server).href,
      says: /does not offer TLS, and DATABASE_URL has sslmode=verify-full\. Turn ssl on there/,
    },
    'something else than PostgreSQL answers': {
      url: async (t) =>
        `postgres://someone:canary@127.0.0.1:${await startServer(t, (socket) => socket.end())}/penstock`,
      says: /ended the connection.*Check that PostgreSQL listens there/,
    },
    'the role may not create tables': {
      url: async (t, server) => {
        const role = `limited_${randomBytes(6).toString('hex')}`
        await withSession(server.href, (session) => session.query(`create role ${role} login password 'limited'`))
        t.after(() => withSession(new URL('/postgres', server).href, (session) => session.query(`drop role ${role}`)))
        return Object.assign(new URL(server), { username: role, password: 'limited' }).href
      },
      says: /^The role limited_\w+ lacks rights in the database \w+ \(42501\)\. Make it the owner/,
    },
  }
  for (const [what, { url, says }] of Object.entries(cases)) {
    test(`(${what}) is reported in one line, exit code 1`, async (t) => {
      const stage = await prepareStage(t)
      const { url: server, drop } = await createEmptyDatabase()
      t.after(drop)
      const commands = commandsOn(stage, { DATABASE_URL: await url(t, new URL(server)), PENSTOCK_MASTER_KEY: key })
      const said = await commands.fails(1, 'org', 'list')
      assert.match(said.replace('penstock: ', ''), says)
      const doctor = await commands.run('doctor', '--json')
      assert.equal(doctor.code, 1)
      const failed = (JSON.parse(doctor.stdout) as { name: string; ok: boolean; message: string }[]).filter(
        ({ ok }) => !ok,
      )
      // Doctor changes nothing, so that it does not meet missing rights.
      if (what !== 'the role may not create tables') assert.match(failed[0]?.message ?? '', says)
      for (const secret of ['canary', key, new URL(server).password]) assert(!commands.said.join('').includes(secret))
    })
  }
})

describe('the data directory', { concurrency: 2 }, () => {
  test('is not needed where everything is in the environment', async (t) => {
    const stage = await prepareStage(t)
    const { url, drop } = await createTestDatabase()
    t.after(drop)
    const credentials = { clientId: 'first', clientSecret: 'a-secret-of-some-length' }
    const env = {
      DATABASE_URL: url,
      PENSTOCK_MASTER_KEY: key,
      PENSTOCK_CLIENT_ID: credentials.clientId,
      PENSTOCK_CLIENT_SECRET: credentials.clientSecret,
      PENSTOCK_DATA_DIR: '/proc/nowhere',
    }
    const served = await stage.serve({ env })
    await tokenOf(served, stage.dataDirectory, credentials)
    const list = await stage.penstock(['org', 'list'], { env })
    assert.equal(list.code, 0, list.stderr)
    const doctor = await stage.penstock(['doctor'], { env })
    assert.equal(doctor.code, 0, doctor.stdout)
    assert.equal(existsSync(stage.dataDirectory), false)
  })

  test('keeps the mode that its owner gave it', async (t) => {
    const stage = await prepareStage(t)
    const { url, drop } = await createTestDatabase()
    t.after(drop)
    await mkdir(stage.dataDirectory)
    await chmod(stage.dataDirectory, 0o2775)
    await stage.serve({ env: { DATABASE_URL: url, PENSTOCK_MASTER_KEY: key } })
    assert.equal(((await stat(stage.dataDirectory)).mode & 0o7777).toString(8), '2775')
    assert.equal(((await stat(join(stage.dataDirectory, 'credentials.json'))).mode & 0o777).toString(8), '600')
  })
})

describe('behind pgbouncer', { skip: skipWithout('pgbouncer'), concurrency: 1 }, () => {
  /** Starts pgbouncer in front of a database. Returns the address through it. */
  async function startPooler(t: TestContext, mode: string, pool: string): Promise<Record<string, string>> {
    const database = await createTestDatabase()
    const pooler = await startPgBouncer(t, database.url, [`pool_mode = ${mode}`, pool])
    t.after(database.drop)
    return { DATABASE_URL: pooler.url, PENSTOCK_MASTER_KEY: key }
  }

  test('in session mode the service serves, and every session has the time limit of statements', async (t) => {
    const env = await startPooler(t, 'session', 'default_pool_size = 40')
    const stage = await prepareStage(t)
    const served = await stage.serve({ env })
    await tokenOf(
      served,
      stage.dataDirectory,
      JSON.parse(await readFile(join(stage.dataDirectory, 'credentials.json'), 'utf8')),
    )
    assert.equal((await fetch(`${served.url}/readyz`)).status, 200)
    served.signal('SIGTERM')
    assert.equal((await served.ended).code, 0, served.said.stderr)
  })

  for (const [mode, pool] of [
    ['transaction', 'default_pool_size = 20'],
    ['transaction', 'default_pool_size = 20\nserver_round_robin = 1'],
    ['transaction', 'default_pool_size = 2'],
    ['statement', 'default_pool_size = 20'],
  ] as const) {
    test(`in ${mode} mode (${pool.replaceAll('\n', ', ')}) it does not start, and says so`, async (t) => {
      const env = await startPooler(t, mode, pool)
      const stage = await prepareStage(t)
      for (const command of ['serve', 'org list']) {
        const said = await commandsOn(stage, { ...env, PENSTOCK_LOG_LEVEL: 'silent' }).fails(1, ...command.split(' '))
        assert.match(
          said,
          /pooler in transaction mode.*PENSTOCK_DATABASE_DIRECT_URL .*session mode \(pool_mode = session\)/,
        )
      }
    })
  }
})
