import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@penstock/client'
import {
  applyPlan,
  ConfigurationError,
  createDefinitions,
  createResolver,
  describePlan,
  digestOf,
  exportConfiguration,
  loadDesired,
  makePlan,
  type Plan,
  type PlanOptions,
  readState,
  viewPlan,
} from '@penstock/configuration'
import { parse } from 'yaml'
import { type Caller, callerOf, connectorBySlug } from './harness/fixtures.ts'
import { type Organization, startTestService, type TestService } from './harness/service.ts'

/** Configuration as code: files, plans and what apply makes of them, against a service that listens. */

let service: TestService
let baseUrl: string
let folder: string
before(async () => {
  service = await startTestService({ PENSTOCK_QUOTA_CONNECTIONS: '5000' })
  baseUrl = await service.service.app.listen({ host: '127.0.0.1', port: 0 })
  folder = await mkdtemp(join(tmpdir(), 'penstock-code-'))
})
after(async () => {
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

/** How many connections the large test makes; `PENSTOCK_TEST_CONNECTIONS=1000` shows what the documents say. */
const many = Number(process.env.PENSTOCK_TEST_CONNECTIONS ?? 200)

const secrets = {
  S3_KEY: 'AKIAEXAMPLE',
  S3_SECRET: 'canary-code-secret',
  HOOK: `whsec_${Buffer.alloc(32, 'canary').toString('base64')}`,
}
let written = 0

/** An organization with what the commands do in it; `requests` are those that were sent. */
async function aParty() {
  const organization: Organization = await service.addOrganization()
  const { clientId, clientSecret } = organization
  const requests: string[] = []
  const client = createClient({
    ...{ baseUrl, clientId, clientSecret },
    fetch: async (address, init) => {
      requests.push(`${init.method} ${new URL(address).pathname}`)
      return fetch(address, init)
    },
  })
  const resolverOf = (env: Record<string, string>, filesWithin?: string) => createResolver({ env, filesWithin })
  const caller: Caller = callerOf(service, organization)
  const party = {
    ...{ organization, client, requests, caller },
    /** Writes texts to files of a directory of their own, for which it returns the path. */
    write: async (...texts: string[]) => {
      const directory = join(folder, String(++written))
      await mkdir(directory)
      for (const [index, text] of texts.entries()) await writeFile(join(directory, `${index}.yaml`), text)
      return directory
    },
    plan: async (
      path: string,
      options: PlanOptions & { env?: Record<string, string>; filesWithin?: string } = {},
    ): Promise<Plan> => {
      const { env = secrets, filesWithin, ...rest } = options
      const desired = await loadDesired([path])
      const names = new Set(desired.flatMap(({ name, was }) => [name, ...was]))
      const ids = new Set(desired.map(({ id }) => id))
      const state = await readState(client, ({ id, name }) => names.has(name) || ids.has(id))
      const resolver = resolverOf(env, filesWithin)
      return makePlan(desired, state, { options: rest, definitions: createDefinitions(client), resolver })
    },
    applyPlan: (plan: Plan, env: Record<string, string> = secrets) =>
      applyPlan(plan, { client, resolver: resolverOf(env) }),
    /** Applies, and expects that another plan finds nothing. */
    apply: async (path: string, options: PlanOptions & { env?: Record<string, string> } = {}) => {
      const { done, failed } = await party.applyPlan(await party.plan(path, options), options.env)
      assert.deepEqual(
        failed.map(({ problem }) => problem.message),
        [],
      )
      assert.equal(
        describePlan(await party.plan(path, { ...options, setSecrets: false })).includes('Nothing to change.'),
        true,
      )
      return done
    },
    export: async (accounts?: string[]) => {
      const { files, ...about } = await exportConfiguration({ client, baseUrl, accounts })
      return { text: files[0]?.text ?? '', ...about }
    },
    /** What is in the organization, by name, without what differs between services. */
    state: async () => {
      const { accounts } = await readState(client)
      return accounts
        .map(({ name, enabled, connectors, connections }) => ({
          ...{ name, enabled },
          connectors: [...connectors.values()].map(({ slug, name, settings, secrets, configured }) => ({
            ...{ slug, name, settings, secrets, configured },
          })),
          connections: connections
            .map((one) => ({
              ...{ name: one.name, status: one.status, source: one.source, destination: one.destination },
              ...{ from: one.srcConnectionConfig, to: one.destConnectionConfig },
              schedule: one.schedule && [one.schedule.cron, one.schedule.timezone, one.schedule.enabled],
            }))
            .sort((a, b) => (a.name < b.name ? -1 : 1)),
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    },
  }
  return party
}

const actions = (plan: Plan) => plan.changes.map(({ action, kind, name }) => `${action} ${kind} ${name}`)
const fieldsOf = (plan: Plan) => plan.changes.flatMap(({ fields }) => fields.map(({ field }) => field))

/** Fails unless the work is refused; gives the problems, a line each. */
async function problemsOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => assert.fail('it was not refused'),
    (error) => error,
  )
  assert(error instanceof ConfigurationError, String(error.stack))
  return error.message
}

async function eachOf(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const take = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all([take(), take(), take(), take()])
}

const acme = `
version: 1
accounts:
  - name: Acme Outdoor
    enabled: true
    connectors:
      - connector: amazon-s3-source
        settings: {accessKeyId: "\${env:S3_KEY}"}
        secrets: {secretAccessKey: "\${env:S3_SECRET}"}
      - connector: webhook
        settings: {url: "https://hooks.example.com/in"}
        secrets: {signingSecret: "\${env:HOOK}"}
    connections:
      - name: Orders
        source: {connector: amazon-s3-source, settings: {bucketUri: "s3://acme/orders/"}}
        destination: {connector: webhook}
        mapping: {email: E-Mail, city: null, source: {value: shop}}
        schedule: {cron: 0 6 * * *, timezone: Europe/Berlin}
        status: active
      - name: Returns
        source: {connector: amazon-s3-source, settings: {bucketUri: "s3://acme/returns/"}}
        destination: {connector: webhook}
        status: disabled
`

describe('a file', { concurrency: 3 }, () => {
  test('makes what it says, once; a second plan finds nothing; no secret is in the plan', async () => {
    const party = await aParty()
    const path = await party.write(acme)
    const plan = await party.plan(path)
    assert.deepEqual(actions(plan), [
      'create account Acme Outdoor',
      'create connector amazon-s3-source',
      'create connector webhook',
      'create connection Orders',
      'create connection Returns',
    ])
    const shown = describePlan(plan) + JSON.stringify(viewPlan(plan))
    for (const secret of Object.values(secrets)) assert(!shown.includes(secret), shown)
    assert.equal(shown.includes('\u001b'), false)
    assert.match(describePlan(plan), / {2}\+ {3}connection Orders {2}\(\S+0\.yaml:14:15\)/)
    assert.equal((await party.apply(path)).length, 5)
    const [account] = await party.state()
    assert.deepEqual(account?.connections, [
      {
        ...{ name: 'Orders', status: 'active', source: 'amazon-s3-source', destination: 'webhook' },
        from: { bucketUri: 's3://acme/orders/' },
        to: { mapping: JSON.stringify({ email: 'E-Mail', city: null, source: { value: 'shop' } }) },
        schedule: ['0 6 * * *', 'Europe/Berlin', true],
      },
      {
        ...{ name: 'Returns', status: 'disabled', source: 'amazon-s3-source', destination: 'webhook' },
        ...{ from: { bucketUri: 's3://acme/returns/' }, to: {}, schedule: undefined },
      },
    ])
    assert.deepEqual(
      account?.connectors.map(({ slug, settings, secrets, configured }) => [slug, settings, secrets, configured]),
      [
        ['amazon-s3-source', { accessKeyId: 'AKIAEXAMPLE' }, ['secretAccessKey'], true],
        ['webhook', { url: 'https://hooks.example.com/in' }, ['signingSecret'], true],
      ].sort(),
    )
    party.requests.length = 0
    assert.deepEqual(actions(await party.plan(path)), [])
    assert(party.requests.every((request) => request.startsWith('GET ') || request.endsWith('/client-token')))
  })

  test('repairs what was changed by hand, and only that', async () => {
    const party = await aParty()
    const path = await party.write(acme)
    await party.apply(path)
    const before = await party.state()
    const { accounts } = await readState(party.client)
    const [account] = accounts
    assert(account)
    const accountId = account.id
    const orders = account.connections.find(({ name }) => name === 'Orders')
    assert(orders)
    const { client } = party
    await client.updateConnection({
      ...{ accountId, id: orders.id },
      body: {
        srcConnectionConfig: { bucketUri: 's3://elsewhere/', format: 'CSV' },
        destConnectionConfig: { mapping: '{"email":"Mail"}' },
      },
    })
    await client.setSchedule({ accountId, id: orders.id, body: { cron: '1 1 * * *' } })
    await client.updateConnectionStatus({ accountId, id: orders.id, body: { action: 'disable' } })
    await client.configureConnector({
      ...{ accountId, id: connectorBySlug('amazon-s3-source').id },
      body: { secretConfig: { accessKeyId: 'AKIAOTHER' } },
    })
    await client.editAccount({ id: accountId, body: { enabled: false } })
    const plan = await party.plan(path)
    assert.deepEqual(
      fieldsOf(plan),
      [
        ...['enabled', 'settings.accessKeyId', 'secrets.secretAccessKey'],
        ...['mapping.email', 'mapping.city', 'mapping.source'],
        ...['source.settings.bucketUri', 'source.settings.format', 'schedule.cron', 'status'].sort(),
      ].sort((a, b) => fieldsOf(plan).indexOf(a) - fieldsOf(plan).indexOf(b)),
    )
    await party.apply(path)
    assert.deepEqual(await party.state(), before)
  })

  test('leaves alone what no file has, and deletes it only where that is allowed', async () => {
    const party = await aParty()
    const path = await party.write(acme)
    await party.apply(path)
    const other = await party.caller.addAccountWithSides('Another')
    await party.caller.createConnection(other.id, 'By hand')
    const smaller = await party.write(acme.slice(0, acme.indexOf('      - name: Returns')))
    const plan = await party.plan(smaller)
    assert.deepEqual([actions(plan), plan.unmanaged.map(({ name }) => name)], [[], ['Returns', 'Another']])
    assert.deepEqual(actions(await party.plan(smaller, { allowDestroy: true })), ['delete connection Returns'])
    await party.apply(smaller, { allowDestroy: true })
    assert.deepEqual(
      (await party.state()).map(({ name, connections }) => [name, connections.length]),
      [
        ['Acme Outdoor', 1],
        ['Another', 1],
      ],
    )
    await party.apply(smaller, { allowDestroyAccounts: true })
    assert.deepEqual(
      (await party.state()).map(({ name }) => name),
      ['Acme Outdoor'],
    )
    const empty = await party.write('version: 1\naccounts:\n  - name: Acme Outdoor\n')
    assert.deepEqual(actions(await party.plan(empty, { allowDestroy: true })).sort(), [
      'delete connection Orders',
      'delete connector amazon-s3-source',
      'delete connector webhook',
    ])
    await party.apply(empty, { allowDestroy: true })
    // What was deleted is made again: the keys of the day do not answer with what is gone.
    await party.apply(path)
    assert.deepEqual(
      (await party.state())[0]?.connections.map(({ name, status }) => [name, status]),
      [
        ['Orders', 'active'],
        ['Returns', 'disabled'],
      ],
    )
  })

  test('renames, keeps what is named by its identifier, and replaces where connectors differ', async () => {
    const party = await aParty()
    await party.apply(await party.write(acme))
    const [account] = (await readState(party.client)).accounts
    const renamed = await party.write(
      acme
        .replace('- name: Acme Outdoor', '- name: Acme\n    was: [Acme Outdoor, Never]')
        .replace('- name: Orders', '- name: Sales\n        was: [Orders]'),
    )
    assert.deepEqual(fieldsOf(await party.plan(renamed)), ['name', 'name'])
    await party.apply(renamed)
    const [now] = (await readState(party.client)).accounts
    assert.deepEqual([now?.id, now?.name], [account?.id, 'Acme'])
    assert.deepEqual(now?.connections.map(({ id }) => id).sort(), account?.connections.map(({ id }) => id).sort())
    const moved = await party.write(
      (await readFile(join(renamed, '0.yaml'), 'utf8'))
        .replace(
          '      - connector: webhook',
          '      - connector: local-folder\n        settings: {path: in}\n      - connector: webhook',
        )
        .replace(
          '{connector: amazon-s3-source, settings: {bucketUri: "s3://acme/orders/"}}',
          '{connector: google-cloud-storage-source}',
        ),
    )
    assert.match(
      await problemsOf(party.plan(moved)),
      /google-cloud-storage-source is not added to the sub-account Acme: list it/,
    )
  })

  test('is refused as a whole, with every place, where something is wrong', async () => {
    const party = await aParty()
    const wrong = async (text: string, options = {}) => problemsOf(party.plan(await party.write(text), options))
    assert.match(await wrong('version: 2'), /0\.yaml:1:10: version must be 1/)
    assert.match(await wrong('version: 1\nversion: 1'), /0\.yaml:2:1: Map keys must be unique/)
    assert.match(await wrong('version: !!js/function 1'), /0\.yaml:1:10: Unresolved tag/)
    assert.match(await wrong(`${'['.repeat(200_000)}`), /nested too deeply|Flow sequence/)
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'.split('').map((name, i) => `${name}: &${name} [${`*${'abcdefgh'[i]},`.repeat(10)}]`),
    ]
    assert.match(await wrong(bomb.join('\n')), /uses its anchors more than 100 times/)
    const unknown = await wrong(
      'version: 1\naccounts:\n  - name: A\n    colour: blue\n    connections:\n      - {name: C, source: {connector: x}}\n',
    )
    assert.match(unknown, /0\.yaml:4:13: accounts\.0\.colour is not known here/)
    assert.match(unknown, /0\.yaml:6:9: accounts\.0\.connections\.0 needs destination: add it/)
    assert.match(
      await wrong(acme.replace('connector: webhook\n', 'connector: web-hook\n')),
      /0\.yaml:\d+:\d+: There is no connector web-hook in this version/,
    )
    assert.match(
      await wrong(acme.replace('bucketUri: "s3://acme/orders/"', 'bucket: x')),
      /bucket is not a field of the source amazon-s3-source\. Its fields are: bucketUri/,
    )
    assert.match(
      await wrong(acme.replace('"${env:S3_SECRET}"', 'plain-text')),
      /secretAccessKey has its secret in the file\. Write a reference/,
    )
    assert.doesNotMatch(await wrong(acme.replace('"${env:S3_SECRET}"', 'plain-text')), /plain-text/)
    const misplaced = acme.replace('settings: {accessKeyId: "${env:S3_KEY}"}', 'settings: {secretAccessKey: x}')
    assert.match(await wrong(misplaced), /secretAccessKey is a secret: put a reference to it under secrets/)
    assert.match(await wrong(acme.replace('s3://acme/orders/', '${NOPE}')), /write \$\$\{ where it is text/)
    const twice = await problemsOf(party.plan(await party.write(acme, acme)))
    assert.match(
      twice,
      /1\.yaml:14:9: The connection Orders of the sub-account Acme Outdoor is at \S+0\.yaml:14:9, too/,
    )
    // All that is missing is said at once, before anything is done.
    const path = await party.write(acme)
    const plan = await party.plan(path, { env: { S3_KEY: 'x' } })
    assert.equal(plan.missing.length, 2)
    assert.match(describePlan(plan), /Needed to apply: \S+ The environment variable S3_SECRET is not set/)
    party.requests.length = 0
    assert.match(await problemsOf(party.applyPlan(plan, {})), /S3_SECRET[\s\S]*HOOK/)
    assert.deepEqual(party.requests, [])
    assert.match(await problemsOf(party.plan(path, { env: {} })), /The environment variable S3_KEY is not set/)
  })

  test('takes secrets from files, and from nowhere outside of a directory that is given', async () => {
    const party = await aParty()
    const path = await party.write(acme.replace('${env:S3_SECRET}', '${file:secret}'))
    await writeFile(join(path, 'secret'), `${secrets.S3_SECRET}\n`)
    const elsewhere = await mkdtemp(join(tmpdir(), 'penstock-outside-'))
    await writeFile(join(elsewhere, 'secret'), 'outside')
    assert.deepEqual((await party.plan(path, { filesWithin: path })).missing, [])
    await rm(join(path, 'secret'))
    await symlink(join(elsewhere, 'secret'), join(path, 'secret'))
    const { missing } = await party.plan(path, { filesWithin: path })
    assert.match(missing[0]?.message ?? '', /The file secret is not in .*: move it there/)
    await rm(elsewhere, { recursive: true })
  })

  test('sends secrets where they are not set, with any other change, and with another secretName', async () => {
    const party = await aParty()
    const path = await party.write(acme)
    await party.apply(path)
    const rotated = await party.write(
      acme.replace('connector: webhook\n', 'connector: webhook\n        secretName: hooks/2\n'),
    )
    assert.deepEqual(fieldsOf(await party.plan(rotated)), ['secretName', 'secrets.signingSecret'])
    await party.apply(rotated, { env: { ...secrets, HOOK: `whsec_${Buffer.alloc(32, 'other').toString('base64')}` } })
    assert.deepEqual(fieldsOf(await party.plan(path, { setSecrets: true })), [
      'secrets.secretAccessKey',
      'secrets.signingSecret',
    ])
    // Without the variables of secrets that are set, a plan still works.
    assert.deepEqual((await party.plan(rotated, { env: { S3_KEY: secrets.S3_KEY } })).missing, [])
    const log = service.logLines.join('\n')
    for (const secret of [secrets.S3_SECRET, secrets.HOOK]) assert(!log.includes(secret))
  })
})

describe('apply', { concurrency: 3 }, () => {
  test('beside others of the same files makes everything once', async () => {
    const party = await aParty()
    const path = await party.write(acme)
    const plans = await Promise.all([party.plan(path), party.plan(path), party.plan(path)])
    const results = await Promise.all(plans.map((plan) => party.applyPlan(plan)))
    for (const { failed } of results)
      assert.deepEqual(
        failed.map(({ problem }) => problem.message),
        [],
      )
    assert.deepEqual(
      (await party.state()).map(({ connections }) => connections.length),
      [2],
    )
    assert.deepEqual(actions(await party.plan(path)), [])
  })

  test('leaves what was changed after the plan as it is, says what that was, and does the rest', async () => {
    const party = await aParty()
    await party.apply(await party.write(acme))
    const path = await party.write(acme.replace('orders/', 'sales/').replace('returns/', 'refunds/'))
    const plan = await party.plan(path)
    const [account] = (await readState(party.client)).accounts
    const orders = account?.connections.find(({ name }) => name === 'Orders')
    assert(account && orders)
    await party.client.updateConnection({
      ...{ accountId: account.id, id: orders.id },
      body: { srcConnectionConfig: { bucketUri: 's3://by-hand/' } },
    })
    const { done, failed } = await party.applyPlan(plan)
    assert.deepEqual(
      done.map(({ name }) => name),
      ['Returns'],
    )
    assert.deepEqual(
      failed.map(({ change, changedMeanwhile }) => [change.name, changedMeanwhile]),
      [['Orders', true]],
    )
    assert.match(
      failed[0]?.problem.message ?? '',
      /changed after the plan was made \(source\.settings\.bucketUri\), and was left as it is: plan again/,
    )
    assert.notEqual(digestOf(plan), digestOf(await party.plan(path)))
    await party.apply(path)
  })

  test('says why the service refuses something, and does what does not need it', async () => {
    const party = await aParty()
    const path = await party.write(acme.replace('0 6 * * *', 'every day').replace('${env:HOOK}', 'x${env:HOOK}'))
    const { failed } = await party.applyPlan(await party.plan(path))
    assert.deepEqual(failed.map(({ change }) => `${change.kind} ${change.name}`).sort(), [
      'connection Orders',
      'connector webhook',
    ])
    assert.match(
      failed.map(({ problem }) => problem.message).join('\n'),
      /signingSecret must be whsec_[\s\S]*cron must have five fields/,
    )
    assert.deepEqual(
      (await party.state())[0]?.connections.map(({ name }) => name),
      ['Orders', 'Returns'],
    )
    await party.apply(await party.write(acme))
  })
})

describe('an export', { concurrency: 2 }, () => {
  test('keeps names and values that YAML would read otherwise', async () => {
    const party = await aParty()
    const names = [
      'null',
      '1',
      '- x',
      '# no',
      'a: b',
      '"quoted"',
      '${env:HOME}',
      '$${x}',
      'ключ 🚰',
      '*a',
      '&a',
      '!t',
      '%',
      '@',
      'yes',
      '__proto__',
      'constructor',
      '<<',
      '~',
      'x'.repeat(200),
    ]
    for (const name of names) {
      const account = await party.caller.addAccountWithSides(name)
      await party.caller.configureSides(account.id)
      await party.client.createConnection({
        accountId: account.id,
        body: {
          name: `${name.slice(0, 190)} c`,
          srcConnectorId: connectorBySlug('amazon-s3-source').id,
          destConnectorId: connectorBySlug('snowflake-destination').id,
          srcConnectionConfig: { bucketUri: `${name}\nsecond: line\t\u0007 ${'${env:HOME}'} $${'${'}\u2028` },
          destConnectionConfig: { mapping: JSON.stringify({ [name]: name, '1': null, b: { value: '${x}' } }) },
        },
      })
    }
    const { text, variables, notes } = await party.export()
    assert.deepEqual([variables.length, notes], [names.length * 2, []], text.slice(0, 2000))
    assert.match(
      text,
      /^# yaml-language-server: \$schema=http:\/\/127\.0\.0\.1:\d+\/docs\/configuration\.schema\.json\n/,
    )
    assert.doesNotMatch(text, /canary/)
    const path = await party.write(text)
    assert.deepEqual(actions(await party.plan(path)), [])
    // In an empty service, it makes the same.
    const other = await aParty()
    const env = Object.fromEntries(variables.map((name) => [name, 'canary']))
    await other.apply(path, { env })
    assert.deepEqual(await other.state(), await party.state())
    assert.equal((await other.export()).text, text)
  })

  test('names what has a name that is not its own by its identifier', async () => {
    const party = await aParty()
    const account = await party.caller.addAccountWithSides('A')
    const made = [
      await party.caller.createConnection(account.id, 'Twin'),
      await party.caller.createConnection(account.id, 'Twin'),
    ]
    const { text, notes } = await party.export()
    assert.equal(notes.length, 1)
    const path = await party.write(text)
    assert.deepEqual(actions(await party.plan(path)), [])
    const changed = await party.write(
      text.replace(/(id: "?[0-9a-f]{16}"?\n[\s\S]*?)bucketUri: \S+/, '$1bucketUri: s3://other/'),
    )
    await party.apply(changed)
    const ids = (parse(text) as { accounts: { connections: { id: string }[] }[] }).accounts[0]?.connections.map(
      ({ id }) => id,
    )
    assert.deepEqual(ids?.sort(), made.map(({ id }) => id).sort())
    // Without them, no one knows which is meant.
    const unnamed = text.replaceAll(/\n *id: .*/g, '').replace('name: Twin', 'name: Other')
    assert.match(
      await problemsOf(party.plan(await party.write(unnamed))),
      /There are 2 that could be the connection Twin .*[0-9a-f]{16} \(Twin\), [0-9a-f]{16}/,
    )
    assert.match(
      await problemsOf((await aParty()).plan(path)),
      /There is no connection Twin of the sub-account A with the identifier/,
    )
  })

  test(`of ${many} connections makes the same in an empty service, in few requests`, async (t) => {
    const party = await aParty()
    const accounts = 10
    for (let n = 1; n <= accounts; n++) {
      const account = await party.caller.addAccountWithSides(`Brand ${n}`)
      await party.caller.configureSides(account.id)
      // Some at once, as many as the service has connections to its database for.
      await eachOf(many / accounts, async (index) => {
        const { id } = await party.caller.createConnection(account.id, `Connection ${index}`)
        const of = { accountId: account.id, id }
        const body = { cron: `${index % 60} 6 * * *`, timezone: 'Europe/Berlin' }
        await party.caller.expect(party.caller.call('setSchedule', { ...of, body }))
        if (index > 0)
          await party.caller.expect(
            party.caller.call('updateConnectionStatus', { ...of, body: { action: 'activate' } }),
          )
      })
    }
    const measured = async <T>(what: string, requests: string[], work: () => Promise<T>) => {
      requests.length = 0
      const started = performance.now()
      const result = await work()
      t.diagnostic(`${what}: ${requests.length} requests, ${((performance.now() - started) / 1000).toFixed(1)} s`)
      return { result, requests: [...requests] }
    }
    const exported = await measured('export', party.requests, () => party.export())
    // Three pages of lists for so many, the token, the sub-accounts, and the definition of each connector.
    assert(exported.requests.length <= 5 + Math.ceil(many / 500) * 2 + 2, exported.requests.join('\n'))
    const path = await party.write(exported.result.text)
    t.diagnostic(`${(exported.result.text.length / 1024).toFixed(0)} KiB`)
    const env = Object.fromEntries(exported.result.variables.map((name) => [name, 'canary']))
    const other = await aParty()
    const plan = await measured('plan of an empty service', other.requests, () => other.plan(path, { env }))
    const applied = await measured('apply', other.requests, () => other.applyPlan(plan.result, env))
    assert.deepEqual(
      applied.result.failed.map(({ problem }) => problem.message),
      [],
    )
    // One to create, one for its schedule, one to activate each; and those of the sub-accounts.
    assert(applied.requests.length <= many * 3 + accounts * 10 + 20, `${applied.requests.length}`)
    const again = await measured('plan that finds nothing', other.requests, () => other.plan(path, { env }))
    assert.deepEqual(actions(again.result), [])
    assert.deepEqual(await other.state(), await party.state())
    // Drift made by hand.
    const [account] = (await readState(other.client)).accounts
    const [connection] = account?.connections ?? []
    assert(account && connection)
    await other.client.updateConnection({
      ...{ accountId: account.id, id: connection.id },
      body: { srcConnectionConfig: { bucketUri: 's3://by-hand/' } },
    })
    await other.client.deleteConnection({ accountId: account.id, id: account.connections[1]?.id ?? '' })
    const repaired = await measured('repair', other.requests, () => other.apply(path, { env }))
    assert.deepEqual(repaired.result.map(({ action }) => action).sort(), ['create', 'update'])
    assert.deepEqual(await other.state(), await party.state())
  })
})
