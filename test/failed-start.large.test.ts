import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { readConfig } from '../packages/server/src/config.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { createApp } from '../packages/server/src/http/app.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { createEmptyDatabase, createTestDatabase } from './harness/database.ts'
import { prepareStage, tokenOf } from './harness/process.ts'
import { withSession } from './harness/session.ts'
import { until } from './harness/until.ts'

/** A start that fails after something was opened: it says why, closes all of it, and ends. */

const lineOf = (stderr: string) => stderr.split('\n').filter((line) => line.startsWith('penstock: '))

describe('a start that fails', { concurrency: 2 }, () => {
  for (const [what, env, says, hasDatabase] of [
    ['a host that no name server knows', { PENSTOCK_HOST: 'host.invalid' }, /^penstock: PENSTOCK_HOST must be /, false],
    ['an address of another machine', { PENSTOCK_HOST: '192.0.2.1' }, /^penstock: PENSTOCK_HOST must be /, true],
    [
      'an address of another machine, on a free port',
      { PENSTOCK_HOST: '192.0.2.1', PENSTOCK_PORT: '0' },
      /^penstock: PENSTOCK_HOST must be /,
      true,
    ],
  ] as const) {
    test(`(${what}) names the setting, ends with 2 and leaves no PostgreSQL`, async (t) => {
      const stage = await prepareStage(t)
      if (hasDatabase) await stage.addDatabase()
      const ended = await stage.penstock(['serve'], { env })
      assert.equal(ended.code, 2, ended.stderr)
      assert.equal(ended.stdout, '')
      const [line = '', ...more] = lineOf(ended.stderr)
      assert.match(line, says)
      assert.deepEqual(more, [])
      assert.equal(await stage.postmaster(), undefined)
    })
  }

  for (const command of ['serve', 'worker']) {
    test(`(${command}: a role that may not record a worker) ends with 1`, async (t) => {
      const { env } = await prepareRole(t)
      const stage = await prepareStage(t)
      const ended = await stage.penstock([command], { env })
      assert.equal(ended.code, 1, ended.stderr)
      assert.equal(lineOf(ended.stderr).length, 1, ended.stderr)
    })
  }

  test('(a database of a build before 0.1.0) ends with 1 and says to start with an empty one', async (t) => {
    const { url, drop } = await createEmptyDatabase()
    t.after(drop)
    await withSession(url, (session) => session.query('create table organizations (id text)'))
    const env = { DATABASE_URL: url, PENSTOCK_MASTER_KEY: randomBytes(32).toString('base64'), PENSTOCK_PORT: '0' }
    const stage = await prepareStage(t)
    const ended = await stage.penstock(['serve'], { env })
    assert.equal(ended.code, 1, ended.stderr)
    const [line = '', ...more] = lineOf(ended.stderr)
    assert.match(line, /tables of a build before 0\.1\.0, .* Start with an empty database: set DATABASE_URL to one/)
    assert.deepEqual(more, [])
  })

  test('(a wrong master key, with the embedded PostgreSQL) ends with 1 and leaves no PostgreSQL', async (t) => {
    const stage = await prepareStage(t)
    await stage.addDatabase()
    const made = await stage.penstock(['serve'], { env: { PENSTOCK_HOST: 'host.invalid' } })
    assert.equal(made.code, 2)
    await writeFile(join(stage.dataDirectory, 'master.key'), `${randomBytes(32).toString('base64')}\n`)
    const ended = await stage.penstock(['serve'])
    assert.equal(ended.code, 1)
    assert.match(lineOf(ended.stderr)[0] ?? '', /The master key does not match this database/)
    assert.equal(await stage.postmaster(), undefined)
  })

  test('(a password file that is not the database’s) stops the PostgreSQL that it started', async (t) => {
    const stage = await prepareStage(t)
    await stage.addDatabase()
    assert.equal((await stage.penstock(['serve'], { env: { PENSTOCK_HOST: 'host.invalid' } })).code, 2)
    await writeFile(join(stage.dataDirectory, 'postgres', 'password'), 'another')
    const ended = await stage.penstock(['serve'])
    assert.equal(ended.code, 1)
    assert.match(lineOf(ended.stderr)[0] ?? '', /does not accept the password/)
    assert.equal(await stage.postmaster(), undefined)
  })
})

describe('credentials that a start made and did not show, since it failed', { concurrency: 2 }, () => {
  test('are kept, and the next start says where; without them it gives the command that makes new ones', async (t) => {
    const stage = await prepareStage(t)
    await stage.addDatabase()
    const failed = await stage.penstock(['serve'], { env: { PENSTOCK_HOST: 'host.invalid' } })
    assert.deepEqual([failed.code, failed.stdout], [2, ''])
    const second = await stage.serve()
    const file = join(stage.dataDirectory, 'credentials.json')
    assert(second.said.stdout.includes(`\nYour client credentials, for programs, are in ${file}.\n`))
    await tokenOf(second, stage.dataDirectory)
    second.signal('SIGTERM')
    await second.ended

    await rm(file)
    const third = await stage.serve()
    const command = /No client credentials are kept here\. .+ To create new ones:\n {2}(penstock .+)\n/.exec(
      third.said.stdout,
    )
    assert(command, third.said.stdout)
    const [program = '', ...args] = (command[1] ?? '').split(' ')
    const { code, stdout } = await stage.run(program, [...args, '--json'])
    assert.equal(code, 0)
    const { clientId, clientSecret } = JSON.parse(stdout)
    await tokenOf(third, stage.dataDirectory, { clientId, clientSecret })
  })

  test('those of the settings that are not in the database are named, with the command that makes new ones', async (t) => {
    const stage = await prepareStage(t)
    await stage.addDatabase()
    await stage.penstock(['serve'], { env: { PENSTOCK_HOST: 'host.invalid' } })
    await rm(join(stage.dataDirectory, 'credentials.json'))
    const env = { PENSTOCK_CLIENT_ID: 'came-later', PENSTOCK_CLIENT_SECRET: 'a-secret-of-some-length' }
    const { said } = await stage.serve({ env })
    assert.match(
      said.stdout,
      /^PENSTOCK_CLIENT_ID and PENSTOCK_CLIENT_SECRET are not the credentials of a client .*\n {2}penstock client create --organization \w{16}\n/m,
    )
    assert(!said.stdout.includes(env.PENSTOCK_CLIENT_SECRET))
  })
})

/** A role that can do everything on the tables, but not record that a worker has begun. */
async function prepareRole(t: TestContext): Promise<{ env: Record<string, string> }> {
  const database = await createEmptyDatabase()
  const url = new URL(database.url)
  await migrate(url.href)
  const role = `limited_${randomBytes(6).toString('hex')}`
  await withSession(url.href, (session) =>
    session.query(`create role ${role} login password 'limited';
      grant usage on schema public to ${role};
      grant all on all tables in schema public to ${role};
      revoke insert on worker_versions from ${role}`),
  )
  t.after(async () => {
    await withSession(database.url, (session) => session.query(`drop owned by ${role}; drop role ${role}`))
    await database.drop()
  })
  url.username = role
  url.password = 'limited'
  const env = {
    DATABASE_URL: url.href,
    PENSTOCK_MASTER_KEY: randomBytes(32).toString('base64'),
    PENSTOCK_PORT: '0',
    PENSTOCK_CLIENT_ID: 'first',
    PENSTOCK_CLIENT_SECRET: 'a-secret-of-some-length',
  }
  return { env }
}

test('every proxy and origin that the settings take is one to the server', async () => {
  const config = readConfig({
    PENSTOCK_HOST: 'fe80::1%lo',
    PENSTOCK_TRUSTED_PROXIES: '10.0.0.5, 10.0.0.0/8 fd00::/8,::1 172.16.0.0/255.240.0.0 loopback uniquelocal',
    PENSTOCK_CORS_ORIGINS: 'https://app.example.com http://localhost:3000, capacitor://localhost http://[::1]:3000',
  })
  assert.equal(config.trustedProxies.length, 7)
  assert.equal(config.corsOrigins.length, 4)
  const { app } = await createApp({ ...config, log: createLogger('silent') })
  app.get('/', async () => ({}))
  for (const origin of config.corsOrigins) {
    const { headers } = await app.inject({ url: '/', headers: { origin } })
    assert.equal(headers['access-control-allow-origin'], origin)
  }
  await app.close()
})

describe('settings that are probably not meant', { concurrency: 2 }, () => {
  const env = {
    PENSTOCK_LOG_LEVL: 'debug',
    PENSTOCK_SOMETHING_ELSE: '1',
    // Kubernetes sets these for a Service with the name penstock.
    PENSTOCK_SERVICE_HOST: '10.0.0.1',
    PENSTOCK_SERVICE_PORT_HTTP: '8080',
    PENSTOCK_PORT_8080_TCP_ADDR: '10.0.0.1',
  }

  // Runners of another user than root could not use these folders, which is another warning.
  const sameUser = process.getuid?.() === 0 ? { PENSTOCK_RUNNER_USER: 'root' } : undefined

  test('are warned of at the start, which continues', async (t) => {
    const stage = await prepareStage(t)
    const folders = [join(stage.base, 'there'), join(stage.base, 'missing'), join(stage.base, 'file')]
    await mkdir(folders[0] ?? '')
    await writeFile(folders[2] ?? '', '')
    const served = await stage.serve({ env: { ...env, PENSTOCK_LOCAL_FOLDERS: folders.join(':'), ...sameUser } })
    const warnings = await until('the warnings', () => {
      const lines = served.said.stderr.split('\n').filter((line) => line.includes('"warn"'))
      return lines.length >= 4 && lines.map((line) => JSON.parse(line).msg as string)
    })
    assert.deepEqual(warnings, [
      'PENSTOCK_LOG_LEVL is not a setting and is ignored: did you mean PENSTOCK_LOG_LEVEL?',
      'PENSTOCK_SOMETHING_ELSE is not a setting and is ignored: docs/operating.md lists all settings',
      `The folder ${folders[1]} of PENSTOCK_LOCAL_FOLDERS does not exist: create it, or remove it from the setting.`,
      `The folder ${folders[2]} of PENSTOCK_LOCAL_FOLDERS is not a directory: create it, or remove it from the setting.`,
    ])
  })

  test('are shown by doctor, which finds all well', async (t) => {
    const stage = await prepareStage(t)
    const database = await createTestDatabase()
    t.after(database.drop)
    const PENSTOCK_MASTER_KEY = randomBytes(32).toString('base64')
    const { code, stdout } = await stage.penstock(['doctor'], {
      env: { ...env, DATABASE_URL: database.url, PENSTOCK_MASTER_KEY },
    })
    assert.equal(code, 0, stdout)
    assert.match(stdout, /^ok {4}settings {4}warning: PENSTOCK_LOG_LEVL is not a setting .* PENSTOCK_LOG_LEVEL\?$/m)
  })
})

describe('npm start before npm ci has ended', () => {
  const program = new URL('../packages/server/bin/penstock.js', import.meta.url)
  // Penstock's own Node is missing, so that the machine's Node runs the file.
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.0" } })'

  for (const [what, packages] of [
    ['without packages', []],
    ['with a package that is not complete', ['node']],
  ] as const) {
    test(`(${what}) says what to do`, async (t) => {
      const { base } = await prepareStage(t)
      const bin = join(base, 'packages', 'server', 'bin')
      await mkdir(bin, { recursive: true })
      await writeFile(join(base, 'package.json'), '{"type":"module"}')
      await copyFile(program, join(bin, 'penstock.js'))
      for (const name of packages) {
        await mkdir(join(base, 'node_modules', name), { recursive: true })
        await writeFile(join(base, 'node_modules', name, 'package.json'), JSON.stringify({ name }))
      }
      const { status, stderr } = spawnSync(
        process.execPath,
        ['--import', `data:text/javascript,${older}`, join(bin, 'penstock.js'), 'serve'],
        { encoding: 'utf8' },
      )
      assert.equal(status, 1)
      assert.equal(stderr, 'Penstock is not installed completely. Wait until `npm ci` has ended, or run it again.\n')
    })
  }
})
