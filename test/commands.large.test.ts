import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { identifierPattern } from '@penstock/wire'
import { listMigrations } from '../packages/server/src/db/migrations.ts'
import { type Commands, commandsOn } from './harness/commands.ts'
import { createTestDatabase } from './harness/database.ts'
import { prepareStage, type Stage } from './harness/process.ts'
import { withSession } from './harness/session.ts'

/** The commands of `penstock` without a service: how they are called, what they print, how they end. */

const identifier = new RegExp(identifierPattern)
const masterKey = randomBytes(32).toString('base64')

describe('a wrong call', { concurrency: 2 }, () => {
  let stage: Stage
  let finish: () => Promise<void>
  before(async () => {
    stage = await prepareStage({
      after: (work) => {
        finish = work
      },
    })
  })
  after(() => finish())

  for (const [call, says] of [
    ['frobnicate', /unknown command 'frobnicate'/],
    ['org frobnicate', /unknown command 'frobnicate'/],
    ['--frobnicate', /unknown option '--frobnicate'/],
    ['org list --frobnicate', /unknown option '--frobnicate'/],
    ['migrate now', /too many arguments/],
    ['client revoke one two', /too many arguments/],
    ['org create --name Acme', /required option '--owner-email <address>'/],
    ['org create --owner-email owner@example.com', /required option '--name <name>'/],
    ['org create --owner-email owner@example.com --name', /'--name <name>' argument missing/],
    ['client create', /required option '--organization <id>'/],
    ['client revoke', /missing required argument 'clientId'/],
    ['account restore', /missing required argument 'accountId'/],
  ] as const) {
    test(`(penstock ${call}) is reported in a line, with where to look, and exit code 2`, async () => {
      const { code, stdout, stderr } = await stage.penstock(call.split(' '))
      assert.deepEqual([code, stdout], [2, ''])
      const [error = '', hint, ...more] = stderr.trimEnd().split('\n')
      assert.match(error, says)
      assert.deepEqual([hint, more], ['Run penstock help to see every command.', []])
    })
  }

  for (const call of ['org', 'client', 'user', 'account', 'key']) {
    test(`(penstock ${call}) that names no command is shown those there are, and exit code 2`, async () => {
      const { code, stdout, stderr } = await stage.penstock([call])
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, new RegExp(`^Usage: penstock ${call}[ |].*Commands:\n`, 's'))
    })
  }

  test('with bad settings reports each, with exit code 2, by every command', async () => {
    const env = { PENSTOCK_PORT: 'many', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
    const calls = ['migrate', 'org list --json', 'client list', 'account restore x', 'key rotate', 'worker']
    await Promise.all(
      calls.map(async (call) => {
        const { code, stdout, stderr } = await stage.penstock(call.split(' '), { env })
        assert.deepEqual([code, stdout], [2, ''], call)
        assert.match(stderr, /^penstock: PENSTOCK_PORT must .*\npenstock: PENSTOCK_MASTER_KEY is needed .*\n$/, call)
      }),
    )
  })
})

describe('a command that does not exist', { concurrency: 2 }, () => {
  for (const [call, name, nearest] of [
    ['sevre', 'sevre', 'serve'],
    ['org lst', 'lst', 'list'],
    ['help bakcup', 'bakcup', 'backup'],
    ['help client revok', 'revok', 'revoke'],
    ['wroker --help', 'wroker', 'worker'],
  ] as const) {
    test(`(penstock ${call}) is answered with the nearest one, and exit code 2`, async (t) => {
      const stage = await prepareStage(t)
      const { code, stdout, stderr } = await stage.penstock(call.split(' '))
      assert.deepEqual([code, stdout], [2, ''])
      assert.deepEqual(stderr.trimEnd().split('\n'), [
        `error: unknown command '${name}'`,
        `(Did you mean ${nearest}?)`,
        'Run penstock help to see every command.',
      ])
    })
  }
})

test('--version prints the versions of the program, of Node and of the schema, without a database or settings', async (t) => {
  const stage = await prepareStage(t)
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const newest = (await listMigrations()).at(-1)
  for (const call of ['--version', '-V']) {
    const { code, stdout, stderr } = await stage.penstock([call], { env: { PENSTOCK_PORT: 'many' } })
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(stdout, `penstock ${version}\nNode ${process.versions.node}\nschema ${newest}\n`)
  }
  assert.equal(existsSync(stage.dataDirectory), false)
})

test('help, however it is asked for, goes to standard output, and exit code 0', async (t) => {
  const stage = await prepareStage(t)
  for (const call of ['--help', '-h', 'help']) {
    const { code, stdout, stderr } = await stage.penstock([call])
    assert.deepEqual([code, stderr], [0, ''], call)
    for (const word of ['serve', 'worker', 'migrate', 'doctor', 'org', 'client', 'account', 'key']) {
      assert.match(stdout, new RegExp(`^ {2}${word}[ |]`, 'm'), call)
    }
    assert.doesNotMatch(stdout, /documents/, 'what only developers need')
  }
  const ofOne = await stage.penstock(['org', 'create', '--help'])
  assert.equal(ofOne.code, 0)
  for (const option of ['--name <name>', '--owner-email <address>', '--json']) assert(ofOne.stdout.includes(option))
  for (const command of ['org create', 'backup', 'client', 'client revoke']) {
    const [asOption, asCommand] = await Promise.all(
      [`${command} --help`, `help ${command}`].map((call) => stage.penstock(call.split(' '))),
    )
    assert.match(asOption?.stdout ?? '', new RegExp(`^Usage: penstock ${command} `))
    assert.deepEqual(asOption, asCommand)
  }
})

describe('on a database', () => {
  let commands: Commands
  let databaseUrl: string
  const finish: (() => Promise<void>)[] = []
  before(async () => {
    const stage = await prepareStage({ after: (work) => void finish.push(work) })
    const database = await createTestDatabase()
    finish.push(database.drop)
    databaseUrl = database.url
    commands = commandsOn(stage, { DATABASE_URL: databaseUrl, PENSTOCK_MASTER_KEY: masterKey })
  })
  after(async () => {
    for (const work of finish) await work()
  })

  type Created = { organizationId: string; clientId: string; clientSecret: string }
  const create = (name: string, ownerEmail: string) =>
    commands.json<Created>('org', 'create', '--name', name, '--owner-email', ownerEmail)

  test('lists say where there is nothing, and are empty arrays for programs', async () => {
    for (const list of ['org', 'client', 'account']) {
      assert.match(
        await commands.done(list, 'list'),
        /^There (is no organization yet|are no clients|are no sub-accounts)\.\n$/,
      )
      assert.deepEqual(await commands.json(list, 'list'), [])
    }
    assert.match(
      await commands.done('account', 'list', '--deleted'),
      /^No sub-account was deleted within .* 30 days\.\n$/,
    )
    assert.deepEqual(await commands.json('account', 'list', '--deleted'), [])
  })

  test('each command names its database on standard error, without the password', async () => {
    const { username, host, pathname, password } = new URL(databaseUrl)
    assert(password)
    for (const call of ['migrate', 'org list', 'client list', 'account list', 'doctor', 'schedules resume']) {
      const { code, stderr } = await commands.run(...call.split(' '), '--json')
      assert.equal(code, 0, call)
      assert.equal(stderr, `Database: postgres://${username}@${host}${pathname}\n`, call)
    }
  })

  test('migrate does it again as if it were the first time', async () => {
    assert.equal(await commands.done('migrate'), 'The database schema is up to date.\n')
    assert.deepEqual(await commands.json('migrate'), { migrated: true })
  })

  test('organizations are created and listed, for people and for programs', async () => {
    const created = await create('  Acme Ünited  ', 'owner@acme.example')
    assert.deepEqual(Object.keys(created), ['organizationId', 'clientId', 'clientSecret'])
    assert.match(created.organizationId, identifier)
    assert.match(created.clientId, identifier)
    assert.match(created.clientSecret, /^pss_[\w-]{43}$/)

    const [entry, ...more] = await commands.json<Record<string, string>[]>('org', 'list')
    assert.deepEqual(more, [])
    const { ownerId = '', createdTime = '', ...rest } = entry ?? {}
    assert.deepEqual(rest, {
      organizationId: created.organizationId,
      name: 'Acme Ünited',
      ownerEmail: 'owner@acme.example',
    })
    assert.match(ownerId, identifier)
    assert.equal(new Date(createdTime).toISOString(), createdTime)
    const [head, row, end] = (await commands.done('org', 'list')).split('\n')
    assert.match(head ?? '', /^organizationId +name +ownerId +ownerEmail +createdTime$/)
    assert.deepEqual(row?.split(/ {2,}/), [
      created.organizationId,
      'Acme Ünited',
      ownerId,
      'owner@acme.example',
      createdTime,
    ])
    assert.equal(end, '')
    assert.equal(head?.indexOf('ownerId'), row?.indexOf(ownerId), 'the columns stand under their names')

    const words = await commands.done('org', 'create', '--name', 'In words', '--owner-email', 'a@b')
    const shown =
      /^organization {3}(\w{16})\nclient id {6}(\w{16})\nclient secret {2}(pss_\S+) {3}\(shown this once\)\n$/
    assert.match(words, shown)
    const ids = (await commands.json<Created[]>('org', 'list')).map(({ organizationId }) => organizationId)
    assert.deepEqual(ids, [created.organizationId, shown.exec(words)?.[1]], 'the oldest first')
  })

  test('an organization needs a valid name and address; all errors are reported at once', async () => {
    const before = await commands.json('org', 'list')
    const [name, address] = ['Fine', 'fine@example.com']
    const cases = [
      ['   ', address, [/--name/]],
      ['x'.repeat(201), address, [/--name/]],
      ['two\nlines', address, [/--name/]],
      [name, 'two words@example.com', [/--owner-email/]],
      [name, 'escape\u001b@example.com', [/--owner-email/]],
      [name, `${'x'.repeat(243)}@example.com`, [/--owner-email/]],
      ['', 'nobody', [/--name/, /--owner-email/]],
    ] as const
    await Promise.all(
      cases.map(async ([given, mail, options]) => {
        const { code, stdout, stderr } = await commands.run('org', 'create', '--name', given, '--owner-email', mail)
        assert.deepEqual([code, stdout], [2, ''], JSON.stringify([given, mail]))
        const lines = stderr.trimEnd().split('\n')
        assert.equal(lines.length, options.length, stderr)
        for (const [i, line] of lines.entries()) assert.match(line, new RegExp(`^penstock: ${options[i]?.source} must`))
      }),
    )
    assert.deepEqual(await commands.json('org', 'list'), before)
    await create('x'.repeat(200), `${'x'.repeat(242)}@example.com`)
  })

  test('clients are created, listed and revoked, for people and for programs', async () => {
    const { organizationId, clientId: first } = await create('Of clients', 'clients@example.com')
    const of = ['--organization', organizationId]
    const created = await commands.json<Created>('client', 'create', ...of)
    assert.deepEqual(Object.keys(created), ['organizationId', 'clientId', 'clientSecret'])
    assert.equal(created.organizationId, organizationId)
    const words = await commands.done('client', 'create', ...of)
    const third = /^client id {6}(\w{16})\nclient secret {2}pss_\S{43} {3}\(shown this once\)\n$/.exec(words)?.[1]
    assert(third, words)

    assert.deepEqual(await commands.json('client', 'revoke', first), { clientId: first, revoked: true })
    assert.match(await commands.done('client', 'revoke', third), new RegExp(`^Client ${third} is revoked.*\\.\n$`))
    const list = await commands.json<Record<string, string | null>[]>('client', 'list', ...of)
    const shownKeys = ['name', 'scopes', 'accountIds', 'createdTime', 'expiresTime', 'lastUsedTime']
    assert.deepEqual(
      list.map(({ clientId, organizationId, revokedTime, ...rest }) => [
        clientId,
        organizationId,
        revokedTime !== null,
        Object.keys(rest),
      ]),
      [
        [first, organizationId, true, shownKeys],
        [created.clientId, organizationId, false, shownKeys],
        [third, organizationId, true, shownKeys],
      ],
    )
    const table = (await commands.done('client', 'list', ...of)).split('\n')
    assert.match(
      table[0] ?? '',
      /^clientId +name +organizationId +scopes +accountIds +createdTime +expiresTime +lastUsedTime +revokedTime$/,
    )
    assert.match(table[2] ?? '', new RegExp(`^${created.clientId} .* -$`))
    assert.match(table[3] ?? '', new RegExp(`^${third} .* \\S+Z$`))
    const all = await commands.json<Created[]>('client', 'list')
    assert(all.length > 3 && all.some(({ organizationId: other }) => other !== organizationId))
  })

  test('people are invited, listed and removed, for people and for programs', async () => {
    const { organizationId } = await create('Of people', 'people@example.com')
    const of = ['--organization', organizationId]
    const invite = (email: string, ...more: string[]) =>
      commands.json<Record<string, string>>('user', 'invite', ...of, '--email', email, ...more)
    assert.equal(await commands.done('user', 'list', ...of), 'There are no people.\n')
    const ada = await invite('ada@example.com', '--role', 'owner')
    assert.deepEqual(Object.keys(ada), ['userId', 'email', 'role', 'link'])
    assert.match(ada.link ?? '', /^http:\/\/.+\/accept-invitation#psi_[\w-]{43}$/)
    const again = await invite('ADA@example.com')
    assert.deepEqual([again.userId, again.role], [ada.userId, 'viewer'])
    assert.notEqual(again.link, ada.link)
    const words = await commands.done('user', 'invite', ...of, '--email', 'bo@example.com', '--role', 'admin')
    assert.match(words, /^bo@example\.com is invited as admin\. .+ 7 days, .+:\n {2}http:\S+#psi_\S{43}\n$/)

    const list = await commands.json<Record<string, unknown>[]>('user', 'list', ...of)
    assert.deepEqual(
      list.map(({ email, role, joinedTime }) => [email, role, joinedTime]),
      [
        ['ada@example.com', 'viewer', null],
        ['bo@example.com', 'admin', null],
      ],
    )
    assert.doesNotMatch(await commands.done('user', 'list'), /psi_|argon2/)
    const [passkeys, allow] = [['user', 'remove-passkeys'] as const, ['org', 'allow-passwords'] as const]
    assert.deepEqual(await commands.json(...passkeys, ada.userId ?? ''), { userId: ada.userId, removed: 0 })
    assert.match(await commands.fails(1, ...passkeys, 'x'), /The person x does not exist\. penstock user list/)
    assert.deepEqual(await commands.json(...allow, organizationId), { organizationId, changed: false })
    assert.match(await commands.fails(1, ...allow, 'x'), /The organization x does not exist/)
    assert.deepEqual(await commands.json('user', 'remove', ada.userId ?? ''), { userId: ada.userId, removed: true })
    assert.match(
      await commands.fails(1, 'user', 'remove', ada.userId ?? ''),
      /The person .+ does not exist\. penstock user list/,
    )
    assert.match(
      await commands.fails(1, 'user', 'invite', '--organization', 'x', '--email', 'a@example.com'),
      /The organization x does not exist/,
    )
    assert.match(await commands.fails(2, 'user', 'invite', ...of, '--email', 'nobody'), /--email must be/)
    const role = ['--email', 'a@example.com', '--role', 'king']
    assert.match(await commands.fails(2, 'user', 'invite', ...of, ...role), /The role king does not exist/)
  })

  test('a client is limited to scopes and sub-accounts, expires, and gets another secret', async () => {
    const { organizationId } = await create('Of scopes', 'scopes@example.com')
    const of = ['--organization', organizationId]
    const create2030 = [...of, '--scope', 'connections:read', 'reports:read', '--expires', '2030-01-31']
    const { clientId, clientSecret } = await commands.json<Created>('client', 'create', ...create2030)
    const [, listed] = await commands.json<Record<string, unknown>[]>('client', 'list', ...of)
    assert.deepEqual(
      [listed?.scopes, listed?.accountIds, listed?.expiresTime, listed?.lastUsedTime],
      [['connections:read', 'reports:read'], null, '2030-01-31T00:00:00.000Z', null],
    )
    const rotated = await commands.json<Created>('client', 'rotate', clientId, '--overlap-hours', '0')
    assert.deepEqual(Object.keys(rotated), ['clientId', 'clientSecret'])
    assert.notEqual(rotated.clientSecret, clientSecret)
    for (const [call, message] of [
      [
        ['client', 'create', ...of, '--scope', 'nothing'],
        /The scope nothing does not exist\. Choose one of accounts:read, /,
      ],
      [['client', 'create', ...of, '--account', '0123456789abcdef'], /The sub-account 0123456789abcdef does not exist/],
      [['client', 'create', ...of, '--expires', '2020-01-01'], /--expires must be a time in the future/],
      [['client', 'create', ...of, '--expires', 'soon'], /--expires must be a time in the future/],
      [
        ['client', 'rotate', clientId, '--overlap-hours', '721'],
        /--overlap-hours must be a whole number from 0 to 720/,
      ],
    ] as const) {
      assert.match(await commands.fails(2, ...call), message)
    }
    assert.match(
      await commands.fails(1, 'client', 'rotate', '0123456789abcdef'),
      /The client 0123456789abcdef cannot be found/,
    )
  })

  test('a client has the name that the operator gives it, and the first of an organization one by default', async () => {
    const { organizationId, clientId: first } = await create('Of names', 'names@example.com')
    const of = ['--organization', organizationId]
    const { clientId: named } = await commands.json<Created>('client', 'create', ...of, '--name', ' Nightly ünload ')
    const { clientId: unnamed } = await commands.json<Created>('client', 'create', ...of)
    const names = async () =>
      (await commands.json<{ clientId: string; name: string | null }[]>('client', 'list', ...of)).map(
        ({ clientId, name }) => [clientId, name],
      )
    const before = [
      [first, 'First client'],
      [named, 'Nightly ünload'],
      [unnamed, null],
    ]
    assert.deepEqual(await names(), before)
    for (const call of [
      ['client', 'create', ...of, '--name', ' '],
      ['client', 'rename', unnamed, 'two\nlines'],
      ['client', 'rename', unnamed, 'x'.repeat(201)],
    ]) {
      assert.match(await commands.fails(2, ...call), /^penstock: (?:--name|The name) must have 1 to 200 characters/)
    }
    assert.deepEqual(await names(), before)
    assert.deepEqual(await commands.json('client', 'rename', unnamed, ' Reports '), {
      clientId: unnamed,
      name: 'Reports',
    })
    assert.deepEqual((await names()).at(-1), [unnamed, 'Reports'])
  })

  test('sub-accounts are listed, and those apart that can be restored', async () => {
    const { organizationId } = await create('Of sub-accounts', 'accounts@example.com')
    await withSession(databaseUrl, (session) =>
      session.query(
        `with env as (insert into environments (name, id, host) values ('here', 'e', 'h') returning name)
         insert into accounts (id, organization_id, name, enabled, env, deleted_time)
         select id, $1, 'Account ' || id, true, name, now() - age::interval
         from env, (values ('kept', null), ('lately', '1 day'), ('long ago', '30 days 1 minute')) given (id, age)`,
        [organizationId],
      ),
    )
    type Listed = { accountId: string; deletedTime: string; restorableUntil: string }
    const list = (...more: string[]) => commands.json<Listed[]>('account', 'list', ...more)
    assert.deepEqual(
      (await list()).map(({ accountId }) => accountId),
      ['kept'],
    )
    const [deleted, ...others] = await list('--deleted', '--organization', organizationId)
    assert.deepEqual([deleted?.accountId, others], ['lately', []])
    const days = (Date.parse(deleted?.restorableUntil ?? '') - Date.parse(deleted?.deletedTime ?? '')) / 86_400_000
    assert.equal(days, 30)
    assert.deepEqual(await list('--deleted', '--organization', 'another'), [])
    assert.match(
      await commands.done('account', 'list', '--deleted'),
      /^accountId +name +organizationId +enabled +createdTime +deletedTime +restorableUntil\n/,
    )
    await commands.done('account', 'restore', 'lately')
    assert.deepEqual(await list('--deleted'), [])
  })

  test('what is not there is named, with where to look, and exit code 1', async () => {
    const { clientId } = await create('Of revoked', 'revoked@example.com')
    await commands.done('client', 'revoke', clientId)
    const cases = [
      [
        /organization nowhere does not exist\. penstock org list shows/,
        'client',
        'create',
        '--organization',
        'nowhere',
      ],
      [/client nobody cannot be found\. penstock client list shows/, 'client', 'revoke', 'nobody', '--json'],
      [/client \w+ cannot be found\. penstock client list shows/, 'client', 'revoke', clientId],
      [/client nobody cannot be found\. penstock client list shows/, 'client', 'rename', 'nobody', 'Name'],
      [
        /account nothing was deleted within .* 30 days\. penstock account list --deleted shows/,
        'account',
        'restore',
        'nothing',
        '--json',
      ],
    ] as const
    await Promise.all(cases.map(async ([says, ...call]) => assert.match(await commands.fails(1, ...call), says)))
  })

  test('a client secret is printed once, by the command that made it, and kept nowhere in the clear', async () => {
    const said = commands.said.join('')
    const secrets = said.match(/pss_[\w-]+/g) ?? []
    assert(secrets.length > 5)
    assert.equal(new Set(secrets).size, secrets.length)
    for (const secret of [masterKey, new URL(databaseUrl).password]) assert(secret && !said.includes(secret))
    const { rows } = await withSession(databaseUrl, (session) => session.query('select t::text as row from clients t'))
    assert(rows.length > 5 && rows.every(({ row }) => !secrets.some((secret) => row.includes(secret))))
  })

  test('a database that is newer serves the commands of the version before it', async () => {
    const before = await commands.json('org', 'list')
    await withSession(databaseUrl, async (session) => {
      await session.query(`insert into penstock_migrations (name, digest) values ('9999_to_come', '')`)
    })
    for (const [command, expected] of [
      ['migrate', { migrated: true }],
      ['org list', before],
    ] as const) {
      const { code, stdout } = await commands.run(...command.split(' '), '--json')
      assert.equal(code, 0)
      assert.deepEqual(JSON.parse(stdout), expected)
    }
    const { code, stdout } = await commands.run('doctor', '--json')
    assert.equal(code, 0, stdout)
  })
})
