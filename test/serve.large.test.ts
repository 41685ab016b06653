import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { createTestDatabase } from './harness/database.ts'
import { callerOf } from './harness/fixtures.ts'
import { freePort, http, prepareStage, type Start, tokenOf } from './harness/process.ts'
import { startServiceOn } from './harness/service.ts'
import { until } from './harness/until.ts'

/** `penstock serve` as a person sees it: what it prints, what it stores, what it refuses. */

const program = join(import.meta.dirname, '../packages/server/bin/penstock.js')
const key = generateMasterKey()
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

describe('a first start', { concurrency: 2 }, () => {
  test('keeps credentials and the key in private files, shows no secret, and the next start uses them', async (t) => {
    const stage = await prepareStage(t)
    const first = await stage.serve({ makesDatabase: true })
    const kept = join(stage.dataDirectory, 'credentials.json')
    const { clientId, clientSecret } = JSON.parse(await readFile(kept, 'utf8'))
    assert(first.said.stdout.includes(`\nYour client credentials, for programs, are in ${kept}.\n`), first.said.stdout)
    for (const text of Object.values(first.said)) assert(!text.includes(clientSecret) && !text.includes('psi_'))
    for (const name of ['credentials.json', 'master.key']) {
      assert.equal(await modeOf(join(stage.dataDirectory, name)), '600', name)
    }
    assert.equal((await modeOf(stage.dataDirectory)).slice(0, 1), '7')
    assert.doesNotMatch(await modeOf(stage.dataDirectory), /[4-7].?$/, 'others may list the directory')
    const leftovers = (await readdir(stage.dataDirectory)).filter((name) => name.endsWith('.new'))
    assert.deepEqual(leftovers, [])
    const token = await tokenOf(first, stage.dataDirectory)
    const key = await readFile(join(stage.dataDirectory, 'master.key'), 'utf8')
    assert(!`${first.said.stdout}${first.said.stderr}`.includes(key.trim()))
    first.signal('SIGTERM')
    assert.equal((await first.ended).code, 0)

    const second = await stage.serve()
    for (const text of Object.values(second.said)) assert(!text.includes(clientSecret))
    assert.equal(await readFile(join(stage.dataDirectory, 'master.key'), 'utf8'), key)
    assert.deepEqual(JSON.parse(await readFile(kept, 'utf8')), { clientId, clientSecret })
    assert.equal((await http(second.url, '/accounts', { token })).status, 200)
    await tokenOf(second, stage.dataDirectory)
  })

  const skip = process.platform === 'linux' && existsSync('/usr/bin/script') ? false : 'script is not installed'
  test('in a terminal shows credentials and a link to set a password, once', { skip }, async (t) => {
    const stage = await prepareStage(t)
    await stage.addDatabase()
    const serve = `'${process.execPath}' '${program}' serve`
    const { said } = stage.start('/usr/bin/script', ['-qec', serve, '/dev/null'], { env: { PENSTOCK_PORT: '0' } })
    await until('it has greeted', () => said.stdout.includes('Try it'))
    const { clientId, clientSecret } = JSON.parse(await readFile(join(stage.dataDirectory, 'credentials.json'), 'utf8'))
    for (const shown of [clientId, clientSecret]) assert(said.stdout.includes(shown), said.stdout)
    assert.match(
      said.stdout,
      /Open this link to set your password.*\r\n {2}http:\S+\/accept-invitation#psi_[\w-]{43}\r\n/,
    )
  })

  test('and later ones say how to get a link to set a password, until that is done', async (t) => {
    const stage = await prepareStage(t)
    const second = await stage.serve()
    assert(!second.said.stdout.includes('psi_'))
    const command = /\n {2}(penstock user invite .+)\n/.exec(second.said.stdout)
    assert(command, second.said.stdout)
    const [program = '', ...args] = (command[1] ?? '').split(' ')
    const invited = await stage.run(program, [...args, '--json'])
    assert.equal(invited.code, 0, invited.stderr)
    const { link } = JSON.parse(invited.stdout)
    const post = (path: string, body: object) => http(second.url, path, { method: 'POST', body })
    const [, invitation] = link.split('#')
    const [email, password] = ['you@example.com', 'a sentence of its own kind']
    const accepted = await post('/invitations/accept', { token: invitation, name: 'Ada', password })
    assert.equal(accepted.status, 200, accepted.text)
    assert.equal((await post('/sign-in', { email, password })).status, 200)
    second.signal('SIGTERM')
    await second.ended

    const third = await stage.serve()
    assert.doesNotMatch(third.said.stdout, /user invite|psi_/)
    const reset = await stage.run(program, [...args, '--json'])
    const [, token] = JSON.parse(reset.stdout).link.split('/reset-password#')
    const newPassword = 'another sentence of its own kind'
    const done = await http(third.url, '/password-resets/complete', { method: 'POST', body: { token, newPassword } })
    assert.equal(done.status, 200, done.text)
  })

  for (const [name, where, besides] of [
    ['penstock', 'beside the data directory', true],
    [`Bob's penstock "$HOME"`, 'beside one with an awkward name', true],
    [`Bob's penstock "$HOME"`, 'far from one with an awkward name', false],
  ] as const) {
    test(`prints three lines for a shell that work as they are, ${where}`, async (t) => {
      const stage = await prepareStage(t, name)
      const options: Start = besides ? { cwd: stage.base } : {}
      const { said } = await stage.serve(options)
      const lines = said.stdout.slice(said.stdout.indexOf('Try it:')).split('\n').slice(1, 4)
      for (const line of lines) assert.match(line, /curl/)
      const script = lines.map((line) => line.trim()).join('\necho\n')
      const { code, stdout, stderr } = await stage.run('/bin/bash', ['-euo', 'pipefail', '-c', script], options)
      assert.equal(code, 0, `${script}\n${stdout}\n${stderr}`)
      const [created, listed] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      assert.equal(created.response.name, 'First account', stdout)
      assert.equal(listed.response[0].id, created.response.id)
    })
  }

  test('on port 0 takes a free port, and names it', async (t) => {
    const stage = await prepareStage(t)
    const program = stage.start('penstock', ['serve'], { env: { PENSTOCK_PORT: '0' } })
    const greeting = await until('the greeting', () => /serves (http:\S+)/.exec(program.said.stdout))
    const url = greeting[1] ?? ''
    assert.notEqual(new URL(url).port, '0', program.said.stdout)
    const token = await tokenOf({ url }, stage.dataDirectory)
    const { headers } = await http(url, '/accounts', { token })
    assert(headers.get('link')?.startsWith(`<${url}/`), headers.get('link') ?? '')
  })

  test('takes credentials from the settings, and keeps and shows none', async (t) => {
    const stage = await prepareStage(t)
    const given = { clientId: 'given-client', clientSecret: 'given-secret-of-some-length' }
    const env = { PENSTOCK_CLIENT_ID: given.clientId, PENSTOCK_CLIENT_SECRET: given.clientSecret }
    const served = await stage.serve({ env })
    await tokenOf(served, stage.dataDirectory, given)
    assert(!(await readdir(stage.dataDirectory)).includes('credentials.json'))
    for (const text of Object.values(served.said)) assert(!text.includes(given.clientSecret))
  })
})

test('a second service shares the PostgreSQL of the data directory, and fails on a port in use without harm', async (t) => {
  const stage = await prepareStage(t)
  const first = await stage.serve()
  const token = await tokenOf(first, stage.dataDirectory)
  const postmaster = await stage.postmaster()

  const refused = await stage.penstock(['serve'], { env: { PENSTOCK_PORT: String(first.port) } })
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr.split('\n').find((line) => line.startsWith('penstock: ')) ?? '',
    new RegExp(`${first.port}`),
  )
  assert.match(refused.stderr, /PENSTOCK_PORT/, 'it says what to do')
  assert.doesNotMatch(refused.stderr, /^\s+at /m)
  assert.doesNotMatch(refused.stdout, /serves/)
  assert.equal((await http(first.url, '/accounts', { token })).status, 200)

  const second = await stage.serve()
  assert.deepEqual(await stage.postmaster(), postmaster)
  const added = await http(second.url, '/accounts', { method: 'POST', token, body: { name: 'Shared' } })
  const { id } = added.response as { id: string }
  assert.equal((await http(first.url, `/accounts/${id}`, { token })).status, 200)
  first.signal('SIGTERM')
  assert.equal((await first.ended).code, 0)
  assert.equal((await http(second.url, `/accounts/${id}`, { token })).status, 200)
  assert.deepEqual(await stage.postmaster(), postmaster)
  second.signal('SIGTERM')
  assert.equal((await second.ended).code, 0)
  assert.equal(await stage.postmaster(), undefined)
})

test('reports connectors of the database that are not known, as after a downgrade, and serves; doctor fails for them', async (t) => {
  const stage = await prepareStage(t)
  const database = await createTestDatabase()
  t.after(database.drop)
  const service = await startServiceOn(database.url, { PENSTOCK_MASTER_KEY: key })
  try {
    const caller = callerOf(service, await service.addOrganization())
    const { id } = await caller.addAccountWithSides()
    await caller.createConnection(id)
    await caller.expect(caller.call('deleteConnection', { accountId: id, id: (await caller.createConnection(id)).id }))
    const { pool } = service.database
    // Both of another version, one of them used.
    await pool.query(
      `with added as (
         insert into added_connectors (account_id, connector_id, env)
         select $1, connector_id, 'production'
         from unnest('{eeeeeeeeeeeeeeee,ffffffffffffffff}'::text[]) as new (connector_id)
         returning account_id, connector_id
       )
       insert into configurations (account_id, connector_id, id, first, name, secret_name)
       select account_id, connector_id, connector_id, true, 'Default', 'unknown' from added`,
      [id],
    )
    await pool.query(
      `update connections set src_connector_id = 'ffffffffffffffff', src_configuration_id = 'ffffffffffffffff'`,
    )
  } finally {
    await service.close()
  }
  const env = { DATABASE_URL: database.url, PENSTOCK_MASTER_KEY: key }
  const named = 'eeeeeeeeeeeeeeee (accounts: 1, connections: 0), ffffffffffffffff (accounts: 1, connections: 2)'
  const { said } = await stage.serve({ env })
  const reported = await until('the report', () =>
    said.stderr.split('\n').find((line) => line.includes('The database holds connectors that this version')),
  )
  const { level, msg } = JSON.parse(reported)
  assert.equal(level, 'error')
  assert(msg.includes(`: ${named}. Their connections cannot transfer. Run the version `), msg)
  const doctor = await stage.penstock(['doctor'], { env })
  assert.equal(doctor.code, 1)
  const failures = doctor.stdout.split('\n').filter((line) => line.startsWith('FAIL'))
  assert.equal(failures.length, 1, doctor.stdout)
  assert(failures[0]?.includes(named), failures[0])
})

describe('what serve refuses', { concurrency: 2 }, () => {
  const databaseUrl = 'postgres://nobody@127.0.0.1:1/none'
  const cases: Record<string, { env: Record<string, string>; says: RegExp[] }> = {
    'a port that is none': { env: { PENSTOCK_PORT: '80800' }, says: [/PENSTOCK_PORT must be a whole number from/] },
    'a public address that is none': { env: { PENSTOCK_PUBLIC_URL: 'address' }, says: [/PENSTOCK_PUBLIC_URL must be/] },
    'a log level that is none': { env: { PENSTOCK_LOG_LEVEL: 'loud' }, says: [/PENSTOCK_LOG_LEVEL must be one of/] },
    'a pool of one': { env: { PENSTOCK_DATABASE_POOL: '1' }, says: [/PENSTOCK_DATABASE_POOL must be/] },
    'a lifetime of nothing': {
      env: { PENSTOCK_TOKEN_LIFETIME_SECONDS: '0' },
      says: [/PENSTOCK_TOKEN_LIFETIME_SECONDS must be/],
    },
    'a host in brackets': { env: { PENSTOCK_HOST: '[::1]' }, says: [/PENSTOCK_HOST must be .*without brackets/] },
    'a host with a port': { env: { PENSTOCK_HOST: '127.0.0.1:80' }, says: [/PENSTOCK_HOST must be an IP address/] },
    'a proxy by its name': {
      env: { PENSTOCK_TRUSTED_PROXIES: '10.0.0.5 nginx.internal' },
      says: [/PENSTOCK_TRUSTED_PROXIES must list IP addresses or networks.*Entry 2 is not valid/],
    },
    'a network that is none': {
      env: { PENSTOCK_TRUSTED_PROXIES: '10.0.0.0/33' },
      says: [/PENSTOCK_TRUSTED_PROXIES must list .*Entry 1 is not valid/],
    },
    'an origin with a path': {
      env: { PENSTOCK_CORS_ORIGINS: 'https://app.example.com,https://app.example.com/' },
      says: [/PENSTOCK_CORS_ORIGINS must list origins.*Entry 2 is not valid/],
    },
    'every origin at once': { env: { PENSTOCK_CORS_ORIGINS: '*' }, says: [/PENSTOCK_CORS_ORIGINS must list/] },
    'an origin without a scheme': {
      env: { PENSTOCK_CORS_ORIGINS: 'app.example.com' },
      says: [/PENSTOCK_CORS_ORIGINS must list/],
    },
    'a rate that is none': { env: { PENSTOCK_RATE_LIMIT: 'many' }, says: [/PENSTOCK_RATE_LIMIT must be/] },
    'a worker that is neither on nor off': {
      env: { PENSTOCK_WORKER: 'yes' },
      says: [/PENSTOCK_WORKER must be 1 or 0/],
    },
    'half of the first credentials': {
      env: { PENSTOCK_CLIENT_ID: 'one' },
      says: [/PENSTOCK_CLIENT_SECRET must be set together/],
    },
    'a client secret that can be guessed': {
      env: { PENSTOCK_CLIENT_ID: 'one', PENSTOCK_CLIENT_SECRET: 'short-secret' },
      says: [/PENSTOCK_CLIENT_SECRET must have 16/],
    },
    'a master key that is none': {
      env: { PENSTOCK_MASTER_KEY: 'short-key' },
      says: [/PENSTOCK_MASTER_KEY must be 32 bytes.*openssl rand/],
    },
    'a database without a master key': {
      env: { DATABASE_URL: databaseUrl },
      says: [/PENSTOCK_MASTER_KEY is needed with DATABASE_URL.*openssl rand -base64 32/],
    },
    'a database that is no PostgreSQL': {
      env: { DATABASE_URL: 'mysql://localhost/x', PENSTOCK_MASTER_KEY: key },
      says: [/DATABASE_URL must be a postgres/],
    },
    'everything that is wrong at once': {
      env: { PENSTOCK_PORT: '-1', PENSTOCK_WORKER: '2', DATABASE_URL: databaseUrl },
      says: [/PENSTOCK_PORT/, /PENSTOCK_MASTER_KEY is needed/, /PENSTOCK_WORKER/],
    },
  }
  for (const [what, { env, says }] of Object.entries(cases)) {
    test(`${what}: a line for each error, exit code 2`, async (t) => {
      const stage = await prepareStage(t)
      const { code, stdout, stderr } = await stage.penstock(['serve'], { env })
      assert.equal(code, 2, stderr)
      assert.equal(stdout, '')
      const lines = stderr.trimEnd().split('\n')
      assert.equal(lines.length, says.length, stderr)
      for (const line of lines) assert.match(line, /^penstock: /)
      for (const error of says)
        assert(
          lines.some((line) => error.test(line)),
          `${stderr} lacks ${error}`,
        )
      for (const secret of ['short-secret', 'short-key']) assert(!stderr.includes(secret))
    })
  }

  test('another master key than the database’s secrets are sealed under', async (t) => {
    const stage = await prepareStage(t)
    const database = await createTestDatabase()
    t.after(database.drop)
    const right = generateMasterKey()
    await (await startServiceOn(database.url, { PENSTOCK_MASTER_KEY: right })).close()
    const env = {
      DATABASE_URL: database.url,
      PENSTOCK_MASTER_KEY: key,
      PENSTOCK_LOG_LEVEL: 'silent',
      PENSTOCK_PORT: '0',
    }
    const { code, stdout, stderr } = await stage.penstock(['serve'], { env })
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /^penstock: The master key does not match this database: .*Set PENSTOCK_MASTER_KEY .*\n$/)
    for (const secret of [right, key]) assert(!stderr.includes(secret))
  })

  test('a master key file without a key in it', async (t) => {
    const stage = await prepareStage(t)
    const first = await stage.serve()
    first.signal('SIGTERM')
    await first.ended
    await writeFile(join(stage.dataDirectory, 'master.key'), 'no key\n')
    const { code, stderr } = await stage.penstock(['serve'], { env: { PENSTOCK_LOG_LEVEL: 'silent' } })
    assert.equal(code, 1)
    assert.match(stderr, /^penstock: .*master\.key does not hold a master key.*restore the file from a backup\.\n$/)
    assert.equal(await stage.postmaster(), undefined)
  })

  const unreachable: Record<string, (server: URL, closedPort: number) => string> = {
    'a server that is not there, by address': (_, port) => `postgres://someone@127.0.0.1:${port}/penstock`,
    'a server that is not there, by name': (_, port) => `postgres://someone@localhost:${port}/penstock`,
    'a host that is not there': () => 'postgres://someone@host.invalid:5432/penstock',
    'a database that is not there': (server) => new URL('/no_such_database', server).href,
    'a password that is wrong': (server) => Object.assign(new URL(server), { password: 'wrong-password' }).href,
  }
  for (const [what, address] of Object.entries(unreachable)) {
    test(`${what}: one line that names DATABASE_URL, exit code 1`, async (t) => {
      const stage = await prepareStage(t)
      const database = await createTestDatabase()
      t.after(database.drop)
      const url = address(new URL(database.url), await freePort())
      const env = { DATABASE_URL: url, PENSTOCK_MASTER_KEY: key, PENSTOCK_LOG_LEVEL: 'silent', PENSTOCK_PORT: '0' }
      const { code, stderr } = await stage.penstock(['serve'], { env })
      assert.equal(code, 1)
      assert.match(stderr, /^penstock: .*DATABASE_URL.*\n$/)
      assert(!stderr.includes('wrong-password'))
    })
  }
})
