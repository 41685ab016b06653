import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@penstock/client'
import {
  applyPlan,
  ConfigurationError,
  chooseAccounts,
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
import { large } from './harness/tiers.ts'

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
  SLACK: 'https://hooks.slack.example.com/canary-of-slack',
  S3_KEY: 'AKIAEXAMPLE',
  S3_SECRET: 'canary-code-secret',
  HOOK: `whsec_${Buffer.alloc(32, 'canary').toString('base64')}`,
}
let written = 0

/** An organization, and the commands on it; `requests` are the requests that were sent. */
async function aParty() {
  const organization: Organization = await service.addOrganization()
  const { clientId, clientSecret } = organization
  const requests: string[] = []
  const client = createClient({
    baseUrl,
    clientId,
    clientSecret,
    fetch: async (address, init) => {
      requests.push(`${init.method} ${new URL(address).pathname}`)
      return fetch(address, init)
    },
  })
  const resolverOf = (env: Record<string, string>, filesWithin?: string) => createResolver({ env, filesWithin })
  const caller: Caller = callerOf(service, organization)
  const party = {
    organization,
    client,
    requests,
    caller,
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
      const state = await readState(client, chooseAccounts(desired))
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
    /** Content of the organization, by name, without values that differ between services. */
    state: async () => {
      const { accounts, webhooks, alertRules } = await readState(client)
      const whose = (of: string | null) => accounts.find(({ id }) => id === of)?.name ?? of
      const names = new Map(accounts.flatMap(({ connections }) => connections.map(({ id, name }) => [id, name])))
      const owned = [
        ...webhooks.map(({ accountId, url, description, eventTypes, enabled }) => ({
          of: whose(accountId),
          url,
          description,
          eventTypes: eventTypes?.toSorted() ?? null,
          enabled,
        })),
        ...alertRules.map(({ accountId, connectionIds, ...rule }) => ({
          of: whose(accountId),
          url: rule.name,
          conditions: rule.conditions,
          enabled: rule.enabled,
          emails: rule.emails,
          emailRoles: rule.emailRoles,
          slack: rule.slackUrl,
          teams: rule.teamsUrl,
          connections: connectionIds?.map((id) => names.get(id)).sort() ?? null,
        })),
      ]
      const inAccounts = accounts
        .map(({ name, enabled, connectors, connections }) => ({
          name,
          enabled,
          connectors: [...connectors.values()].map(({ slug, name, settings, secrets, configured }) => ({
            slug,
            name,
            settings,
            secrets,
            configured,
          })),
          connections: connections
            .map((one) => ({
              name: one.name,
              status: one.status,
              source: one.source,
              destination: one.destination,
              from: one.srcConnectionConfig,
              to: one.destConnectionConfig,
              schedule: one.schedule && [one.schedule.cron, one.schedule.timezone, one.schedule.enabled],
              drift: one.drift,
              rules: one.rules,
              blackout: one.blackout,
              tags: one.tags,
            }))
            .sort((a, b) => (a.name < b.name ? -1 : 1)),
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
      const keyOf = (one: (typeof owned)[number]) => JSON.stringify([one.of, one.url])
      return { accounts: inAccounts, owned: owned.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) }
    },
  }
  return party
}

const noCondition = {
  transferFailed: false,
  connectionBroken: false,
  rejectedPercent: null,
  noSuccessHours: null,
  volumePercent: null,
}
/** Signing secrets of the connector `webhook` have a form of their own. */
const hooks = (variables: readonly string[]) =>
  Object.fromEntries(variables.filter((name) => name.endsWith('SIGNING_SECRET')).map((name) => [name, secrets.HOOK]))
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
        drift: stop
        rules:
          - {check: rejected, action: stop, percent: 5}
          - {check: values, action: warn, column: country, values: [DE, AT]}
        blackout: {timezone: Europe/Berlin, windows: [{days: [sat, sun], from: '00:00', to: '00:00'}]}
        tags: [production, Q4]
        owner: ''
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
    const [account] = (await party.state()).accounts
    assert.deepEqual(account?.connections, [
      {
        name: 'Orders',
        status: 'active',
        source: 'amazon-s3-source',
        destination: 'webhook',
        from: { bucketUri: 's3://acme/orders/' },
        to: { mapping: JSON.stringify({ email: 'E-Mail', city: null, source: { value: 'shop' } }) },
        schedule: ['0 6 * * *', 'Europe/Berlin', true],
        drift: 'stop',
        rules: [
          { check: 'rejected', action: 'stop', percent: 5 },
          { check: 'values', action: 'warn', column: 'country', values: ['DE', 'AT'] },
        ],
        blackout: { timezone: 'Europe/Berlin', windows: [{ days: ['sat', 'sun'], from: '00:00', to: '00:00' }] },
        tags: ['production', 'Q4'],
      },
      {
        name: 'Returns',
        status: 'disabled',
        source: 'amazon-s3-source',
        destination: 'webhook',
        from: { bucketUri: 's3://acme/returns/' },
        to: {},
        schedule: undefined,
        drift: 'ignore',
        rules: [],
        blackout: null,
        tags: [],
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

  test('has further configurations of a connector, which connections name', async () => {
    const party = await aParty()
    const text = `
version: 1
accounts:
  - name: Two servers
    connectors:
      - connector: amazon-s3-source
        settings: {accessKeyId: AKIAFIRST}
        secrets: {secretAccessKey: "\${env:S3_SECRET}"}
      - connector: amazon-s3-source
        configuration: Staging
        settings: {accessKeyId: AKIASTAGING}
        secrets: {secretAccessKey: "\${env:S3_SECRET}"}
      - connector: webhook
        settings: {url: "https://hooks.example.com/in"}
        secrets: {signingSecret: "\${env:HOOK}"}
    connections:
      - name: Live
        source: {connector: amazon-s3-source, settings: {bucketUri: "s3://acme/live/"}}
        destination: {connector: webhook}
        status: active
      - name: Staging
        source: {connector: amazon-s3-source, configuration: Staging, settings: {bucketUri: "s3://acme/staging/"}}
        destination: {connector: webhook}
        status: active
`
    const path = await party.write(text)
    assert.deepEqual(actions(await party.plan(path)).slice(1, 4), [
      'create connector amazon-s3-source',
      'create connector amazon-s3-source (Staging)',
      'create connector webhook',
    ])
    await party.apply(path)
    const read = async () => (await readState(party.client)).accounts[0] ?? assert.fail()
    const { connectors, connections } = await read()
    const staging = connectors.find(({ name }) => name === 'Staging')
    assert.deepEqual([staging?.settings, staging?.first], [{ accessKeyId: 'AKIASTAGING' }, false])
    const ids = Object.fromEntries(connections.map(({ name, srcConfigurationId }) => [name, srcConfigurationId]))
    assert.equal(ids.Staging, staging?.configurationId)
    assert.notEqual(ids.Live, staging?.configurationId)

    // The exported file makes the same elsewhere.
    const exported = await party.export()
    assert.deepEqual(exported.variables, [
      'TWO_SERVERS_AMAZON_S3_SOURCE_CONFIGURATION_STAGING_SECRET_ACCESS_KEY',
      'TWO_SERVERS_AMAZON_S3_SOURCE_SECRET_ACCESS_KEY',
      'TWO_SERVERS_WEBHOOK_SIGNING_SECRET',
    ])
    const env = { ...Object.fromEntries(exported.variables.map((name) => [name, 'any'])), ...hooks(exported.variables) }
    const again = await party.write(exported.text)
    assert.deepEqual(actions(await party.plan(again, { env })), [])
    const other = await aParty()
    await other.apply(await other.write(exported.text), { env })
    assert.deepEqual(await other.state(), await party.state())

    // Renamed, and the connection that used the first one moves to it.
    const renamed = text
      .replace('configuration: Staging\n', 'configuration: Test\n        was: [Staging]\n')
      .replace('configuration: Staging, ', 'configuration: Test, ')
      .replace(
        '{connector: amazon-s3-source, settings: {bucketUri: "s3://acme/live/"}}',
        '{connector: amazon-s3-source, configuration: Test, settings: {bucketUri: "s3://acme/live/"}}',
      )
    const plan = await party.plan(await party.write(renamed))
    assert.deepEqual(actions(plan), ['update connector amazon-s3-source (Test)', 'update connection Live'])
    assert.deepEqual(
      fieldsOf(plan).filter((field) => !field.startsWith('secrets.')),
      ['name', 'source.configuration'],
    )
    await party.apply(await party.write(renamed))
    const after = await read()
    assert.deepEqual(
      new Set(after.connections.map(({ srcConfigurationId }) => srcConfigurationId)),
      new Set([staging?.configurationId]),
    )

    // The first one stays as long as there are others; one that no file has goes.
    const without = text
      .replace(/ {6}- connector: amazon-s3-source\n {8}configuration[^-]*(?= {6}- )/, '')
      .replace(/ {6}- name: Staging[\s\S]*/, '')
    const destroying = await party.plan(await party.write(without), { allowDestroy: true })
    assert.deepEqual(actions(destroying), [
      'update connection Live',
      'delete connection Staging',
      'delete connector amazon-s3-source (Test)',
    ])
    await party.apply(await party.write(without), { allowDestroy: true })
    assert.deepEqual((await read()).connectors.map(({ slug, first }) => [slug, first]).sort(), [
      ['amazon-s3-source', true],
      ['webhook', true],
    ])
    const wrong = text.replace('configuration: Staging,', 'configuration: Unknown,')
    assert.match(await problemsOf(party.plan(await party.write(wrong))), /amazon-s3-source \(Unknown\) is not added/)
  })

  test('says what connections run after, in any order, and their groups', async () => {
    const party = await aParty()
    const text = acme
      .replace('    connections:', '    groups:\n      - {name: warehouse, transfersMax: 2}\n    connections:')
      .replace("        owner: ''", "        owner: ''\n        runAfter: [Returns]\n        group: warehouse")
    const path = await party.write(text)
    await party.apply(path)
    const [account] = (await readState(party.client)).accounts
    const of = (name: string) => account?.connections.find((one) => one.name === name)
    assert.deepEqual([of('Orders')?.runAfter, of('Orders')?.group], [[of('Returns')?.id], 'warehouse'])
    const { text: exported } = await party.export()
    assert.match(exported, /runAfter:\n\s+- Returns\n\s+group: warehouse/)
    assert.match(exported, /groups:\n\s+- name: warehouse\n\s+transfersMax: 2/)
    const unknown = text.replace('[Returns]', '[Nothing]').replace('group: warehouse', 'group: Other')
    const problems = await problemsOf(party.plan(await party.write(unknown)))
    assert.match(problems, /no connection Nothing[\s\S]*no group Other/)
    await party.apply(await party.write(text.replace('[Returns]', '[]').replace('group: warehouse', "group: ''")))
    await party.apply(await party.write(acme.replace('    connections:', '    groups: []\n    connections:')), {
      allowDestroy: true,
    })
    assert.equal((await party.client.listTransferGroups({})).total, 0)
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
      accountId,
      id: orders.id,
      body: {
        srcConnectionConfig: { bucketUri: 's3://elsewhere/', format: 'CSV' },
        destConnectionConfig: { mapping: '{"email":"Mail"}' },
      },
    })
    await client.setSchedule({ accountId, id: orders.id, body: { cron: '1 1 * * *' } })
    await client.setDrift({ accountId, id: orders.id, body: { drift: 'ignore' } })
    await client.updateConnectionStatus({ accountId, id: orders.id, body: { action: 'disable' } })
    await client.configureConnector({
      accountId,
      id: connectorBySlug('amazon-s3-source').id,
      body: { secretConfig: { accessKeyId: 'AKIAOTHER' } },
    })
    await client.editAccount({ id: accountId, body: { enabled: false } })
    const plan = await party.plan(path)
    assert.deepEqual(
      fieldsOf(plan),
      [
        'enabled',
        'settings.accessKeyId',
        'secrets.secretAccessKey',
        'mapping.email',
        'mapping.city',
        'mapping.source',
        ...['source.settings.bucketUri', 'source.settings.format', 'schedule.cron', 'drift', 'status'].sort(),
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
      (await party.state()).accounts.map(({ name, connections }) => [name, connections.length]),
      [
        ['Acme Outdoor', 1],
        ['Another', 1],
      ],
    )
    await party.apply(smaller, { allowDestroyAccounts: true })
    assert.deepEqual(
      (await party.state()).accounts.map(({ name }) => name),
      ['Acme Outdoor'],
    )
    const empty = await party.write('version: 1\naccounts:\n  - name: Acme Outdoor\n')
    assert.deepEqual(actions(await party.plan(empty, { allowDestroy: true })).sort(), [
      'delete connection Orders',
      'delete connector amazon-s3-source',
      'delete connector webhook',
    ])
    await party.apply(empty, { allowDestroy: true })
    // Deleted resources are created again: the keys of the day do not return deleted ones.
    await party.apply(path)
    assert.deepEqual(
      (await party.state()).accounts[0]?.connections.map(({ name, status }) => [name, status]),
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

  test('finds a connection that was renamed by hand, and never makes a second one', async () => {
    const party = await aParty()
    const path = await party.write(acme)
    await party.apply(path)
    const before = await party.state()
    const [account] = (await readState(party.client)).accounts
    const orders = account?.connections.find(({ name }) => name === 'Orders')
    assert(account && orders)
    const renameTo = (name: string) =>
      party.client.updateConnection({ accountId: account.id, id: orders.id, body: { name } })
    for (const text of [acme, (await party.export()).text]) {
      await renameTo('Orders, by hand')
      await renameTo('Orders, twice')
      const plan = await party.plan(await party.write(text))
      assert.deepEqual(fieldsOf(plan), ['name'])
      assert.deepEqual(plan.unmanaged, [])
      assert.match(plan.notes.join(), /The connection Orders .* was renamed to Orders, twice/)
      await party.apply(path)
      assert.deepEqual(await party.state(), before)
    }
    const [now] = (await readState(party.client)).accounts
    assert.equal(now?.connections.find(({ name }) => name === 'Orders')?.id, orders.id)
  })

  test('finds what else was renamed by hand by its identifier: sub-accounts, configurations, webhooks and alert rules', async () => {
    const party = await aParty()
    const further = acme
      .replace(
        '    connections:',
        `      - connector: webhook
        configuration: Archive
        settings: {url: "https://hooks.example.com/archive"}
        secrets: {signingSecret: "\${env:HOOK}"}
    webhooks:
      - url: https://shop.example.com/events
    alertRules:
      - name: Late
        conditions: {transferFailed: true}
    connections:`,
      )
      .replace('bucketUri: "s3://acme/returns/"}}\n        destination: {connector: webhook}', (text) =>
        text.replace('{connector: webhook}', '{connector: webhook, configuration: Archive}'),
      )
    const path = await party.write(further)
    await party.apply(path)
    const before = await party.state()
    const read = async () => {
      const { webhooks, alertRules, ...state } = await readState(party.client)
      const account = state.accounts[0] ?? assert.fail()
      const archive = account.connectors.find(({ first }) => !first) ?? assert.fail()
      return { account, archive, webhook: webhooks[0] ?? assert.fail(), rule: alertRules[0] ?? assert.fail() }
    }
    const idsOf = ({ account, archive, webhook, rule }: Awaited<ReturnType<typeof read>>) => {
      return [account.id, archive.configurationId, webhook.id, rule.id]
    }
    const was = await read()
    const { client } = party
    const { connectorId: id, configurationId } = was.archive
    await client.editAccount({ id: was.account.id, body: { name: 'Acme, by hand' } })
    await client.configureConnector({
      accountId: was.account.id,
      id,
      body: { configurationId, name: 'By hand', secretConfig: {} },
    })
    await client.updateWebhook({ id: was.webhook.id, body: { url: 'https://shop.example.com/by-hand' } })
    await client.updateAlertRule({ id: was.rule.id, body: { name: 'By hand' } })
    const plan = await party.plan(path)
    assert.deepEqual(
      plan.changes.map(({ action, kind }) => `${action} ${kind}`),
      ['update account', 'update connector', 'update webhook', 'update alertRule'],
    )
    assert.deepEqual([plan.unmanaged, plan.notes.length], [[], 4])
    assert.match(plan.notes.join(), /The sub-account Acme Outdoor was renamed to Acme, by hand: to keep that name/)
    // Credentials without audit:read cannot know, and the plan says so.
    const scopes = [
      'accounts:read',
      'connectors:read',
      'connections:read',
      'transfers:read',
      'webhooks:read',
      'alerts:read',
    ] as const
    const { reply } = await client.createClient({ body: { name: 'No audit', scopes: [...scopes] } })
    const limited = createClient({ baseUrl, clientId: reply.id, clientSecret: reply.clientSecret })
    const desired = await loadDesired([path])
    const state = await readState(limited, chooseAccounts(desired))
    const given = { options: {}, definitions: createDefinitions(limited), resolver: createResolver({ env: secrets }) }
    const blind = await makePlan(desired, state, given)
    assert.match(describePlan(blind), /sub-account Acme Outdoor is created\. Whether .* lack the scope audit:read/)
    await party.apply(path)
    assert.deepEqual(await party.state(), before)
    assert.deepEqual(idsOf(await read()), idsOf(was))
  })

  test('has a line for all sub-accounts that no file has', async () => {
    const party = await aParty()
    const path = await party.write('version: 1\naccounts:\n  - name: Ours\n')
    await party.apply(path)
    for (let number = 1; number <= 7; number++) await party.client.addAccount({ body: { name: `Foreign ${number}` } })
    const lines = describePlan(await party.plan(path)).split('\n')
    assert.equal(lines.filter((line) => line.includes('Foreign')).length, 1)
    assert.match(lines.join('\n'), /no file has them: 7 sub-accounts Foreign \d, .* and 2 more/)
  })

  test('is planned with values that the service will refuse, and names what could be meant', async () => {
    const party = await aParty()
    const withBigQuery = acme.replace(
      '      - connector: webhook\n',
      '      - connector: postgresql\n        settings: {host: db.example.com, port: 70000, database: x, user: x, tlsMode: sometimes}\n        secrets: {password: "${env:HOOK}"}\n      - connector: webhook\n',
    )
    const plan = await party.plan(await party.write(withBigQuery))
    const { failed } = await party.applyPlan(plan)
    assert.deepEqual(
      failed.map(({ change }) => change.name),
      ['postgresql'],
    )
    const refused = plan.refused.map(({ message }) => message)
    assert.match(refused.join('\n'), /port of the connector postgresql must be at most 65535\./)
    assert.equal(refused.length, failed[0]?.problem.message.split('; ').length, refused.join('\n'))
    const wrong = async (text: string) => problemsOf(party.plan(await party.write(text)))
    assert.match(
      await wrong(acme.replace('schedule:', 'shedule:')),
      /shedule is not known here.* Did you mean schedule\?/,
    )
    assert.match(
      await wrong(acme.replace('{accessKeyId', '{accesKeyID')),
      /accesKeyID is .* Did you mean accessKeyId\?/,
    )
    assert.match(await wrong(acme.replace(/amazon-s3-source/g, 'amazon-s3-sorce')), /Did you mean amazon-s3-source\?/)
    const used = acme.replace('{connector: webhook}', '{connector: webhok}')
    assert.match(await wrong(used), /webhok is not added .* Did you mean webhook\?/)
    const rule = `${acme}    alertRules:\n      - {name: R, conditions: {transferFailed: true}, connections: [Order]}\n`
    assert.match(await wrong(rule), /There is no connection Order .* Did you mean Orders\?/)
    assert.doesNotMatch(await wrong(acme.replace('schedule:', 'unlike:')), /Did you mean/)
  })

  test('is planned with what the service will refuse: each connector and connection that lacks something', async () => {
    const party = await aParty()
    const text = acme.replace(/\n *secrets: {secretAccessKey.*/, '')
    assert.notEqual(text, acme)
    const path = await party.write(text)
    const plan = await party.plan(path)
    const { failed } = await party.applyPlan(plan)
    const refused = plan.refused.map(({ message }) => message)
    assert.equal(failed.length, refused.length, refused.join('\n'))
    assert(failed.length > 1)
    for (const { change } of failed)
      assert(
        refused.some((message) => message.includes(change.name)),
        change.name,
      )
    assert.match(refused.join('\n'), /connection Orders .* cannot be activated: .*secretAccessKey/)
    assert.match(describePlan(plan), /The service will refuse: .*secretAccessKey/)
    assert.equal(viewPlan(plan).refused.length, refused.length)
    // Planned again, nothing has changed: what could not be activated is named again.
    assert((await party.plan(path)).refused.some(({ message }) => message.includes('Orders')))
    assert.deepEqual((await party.plan(await party.write(acme))).refused, [])
  })

  test('is refused as a whole, with every place, where something is wrong', async () => {
    const party = await aParty()
    const wrong = async (text: string, options = {}) => problemsOf(party.plan(await party.write(text), options))
    assert.match(await wrong('version: 2'), /0\.yaml:1:10: version must be 1/)
    assert.match(await wrong('version: 1\nversion: 1'), /0\.yaml:2:1: Map keys must be unique/)
    assert.match(await wrong('version: !!js/function 1'), /0\.yaml:1:10: Unresolved tag/)
    assert.match(await wrong(`${'['.repeat(200_000)}`), /^\S+0\.yaml:\d+:\d+: The file is nested too deeply\.$/)
    // Files that would take hours or the memory are refused, or read, immediately.
    const started = process.cpuUsage()
    const keys = Array.from({ length: 80_000 }, (_, n) => `k${n}: 1`).join('\n')
    assert.match(await wrong(`version: 1\n${keys}`), /0\.yaml:2:5: k0 is not known here/)
    assert.match(await wrong(`version: 1\n${'x: 1\n'.repeat(80_000)}`), /0\.yaml:3:1: Map keys must be unique/)
    assert(process.cpuUsage(started).user < 20_000_000)
    for (const key of ['__proto__', 'constructor', '<<', 'toString']) {
      const as = key === '<<' ? '"<<"' : key
      assert.match(await wrong(`version: 1\n${as}: {}`), new RegExp(`0\\.yaml:2:\\d+: ${key} is not known here`))
      const inside = acme.replace('settings: {url', `settings: {${as}: x, url`)
      assert.match(await wrong(inside), /(__proto__|constructor|<<|toString) is not (a field of|the key of a field)/)
    }
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    assert.match(await wrong('version: 1\naccounts: !!python/object:os.system [x]'), /Unresolved tag/)
    assert.match(await wrong('--- 1\n--- 2'), /The file has several documents: put each into a file of its own/)
    assert.match(
      await wrong('version: 1\naccounts:\n  - &a\n    name: A\n    connections: *a'),
      /needs|must be|anchors|nested/,
    )
    const large = await party.write('version: 1\n#')
    await truncate(join(large, '0.yaml'), 17 * 1024 * 1024)
    assert.match(await problemsOf(party.plan(large)), /0\.yaml has more than 16 MiB: split it/)
    await writeFile(join(large, '0.yaml'), Buffer.from([0xff, 0xfe, 0x00]))
    assert.match(await problemsOf(party.plan(large)), /0\.yaml is not UTF-8/)
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

/** The same with webhooks and alert rules, of the sub-account and of the organization. */
const heard = `${acme}    webhooks:
      - url: https://hooks.example.com/\${env:S3_KEY}
        eventTypes: [transfer.failed, connection.deleted]
        enabled: true
    alertRules:
      - name: Orders
        conditions: {transferFailed: true, noSuccessHours: 26}
        connections: [Orders, Returns]
        emails: [data@example.com]
        slackUrl: "\${env:SLACK}"
webhooks:
  - url: https://hooks.example.com/all
    description: Everything
alertRules:
  - name: Failures
    conditions: {transferFailed: true}
    emailRoles: [owner, admin]
  - name: Returns
    enabled: false
    conditions: {rejectedPercent: 2.5, volumePercent: 40}
    connections: [{account: Acme Outdoor, connection: Returns}]
`

describe('webhooks and alert rules', { concurrency: 3 }, () => {
  test('are made once, with their secrets by reference, and none is in a plan or an export', async () => {
    const party = await aParty()
    const path = await party.write(heard)
    const plan = await party.plan(path)
    assert.deepEqual(actions(plan).slice(5), [
      'create webhook https://hooks.example.com/${env:S3_KEY}',
      'create alertRule Orders',
      'create webhook https://hooks.example.com/all',
      'update alertRule Failures',
      'create alertRule Returns',
    ])
    const shown = describePlan(plan) + JSON.stringify(viewPlan(plan))
    assert.match(shown, /\nOrganization\n {2}\+ {3}webhook https:[^\n]*\n {8}description {2}"Everything"/)
    assert.match(shown, /slackUrl {2}set\n/)
    for (const secret of Object.values(secrets)) assert(!shown.includes(secret), shown)
    // In place of what is made, the service gives each signing secret once.
    const made: string[] = []
    const resolver = createResolver({ env: secrets })
    const { failed } = await applyPlan(plan, {
      client: party.client,
      resolver,
      onSecret: async ({ url, secret }) => void made.push(`${url} ${secret.slice(0, 6)}`),
    })
    assert.deepEqual(failed, [])
    assert.deepEqual(made.sort(), [
      'https://hooks.example.com/AKIAEXAMPLE whsec_',
      'https://hooks.example.com/all whsec_',
    ])
    party.requests.length = 0
    assert.deepEqual(actions(await party.plan(path, { env: { S3_KEY: secrets.S3_KEY } })), [])
    assert(party.requests.every((request) => request.startsWith('GET ') || request.endsWith('/client-token')))
    const { owned } = await party.state()
    assert.deepEqual(owned, [
      {
        of: 'Acme Outdoor',
        url: 'Orders',
        enabled: true,
        connections: ['Orders', 'Returns'],
        conditions: { ...noCondition, transferFailed: true, noSuccessHours: 26 },
        emails: ['data@example.com'],
        emailRoles: [],
        slack: '********',
        teams: null,
      },
      {
        of: 'Acme Outdoor',
        url: 'https://hooks.example.com/AKIAEXAMPLE',
        description: '',
        enabled: true,
        eventTypes: ['connection.deleted', 'transfer.failed'],
      },
      {
        of: null,
        url: 'Failures',
        enabled: true,
        connections: null,
        conditions: { ...noCondition, transferFailed: true },
        emails: [],
        emailRoles: ['owner', 'admin'],
        slack: null,
        teams: null,
      },
      {
        of: null,
        url: 'Returns',
        enabled: false,
        connections: ['Returns'],
        conditions: { ...noCondition, rejectedPercent: 2.5, volumePercent: 40 },
        emails: [],
        emailRoles: [],
        slack: null,
        teams: null,
      },
      { of: null, url: 'https://hooks.example.com/all', description: 'Everything', eventTypes: null, enabled: true },
    ])
    // An export says the same, and makes the same elsewhere.
    const { text, variables } = await party.export()
    assert(variables.includes('ACME_OUTDOOR_ALERT_ORDERS_SLACK_URL'), variables.join())
    assert.doesNotMatch(text, /canary|whsec/)
    const exported = await party.write(text)
    assert.deepEqual(actions(await party.plan(exported)), [])
    const other = await aParty()
    const env = { ...Object.fromEntries(variables.map((name) => [name, secrets.SLACK])), ...hooks(variables) }
    await other.apply(exported, { env })
    assert.deepEqual((await other.state()).owned, owned)
    assert.equal((await other.export()).text, text)
  })

  test('that were changed by hand are repaired; what no file has is left alone, or deleted where that is allowed', async () => {
    const party = await aParty()
    const path = await party.write(heard)
    await party.apply(path)
    const before = await party.state()
    const { client } = party
    const { accounts, webhooks, alertRules } = await readState(client)
    const [ofAccount, ofAll] = [webhooks.find((one) => one.accountId), webhooks.find((one) => !one.accountId)]
    const orders = alertRules.find(({ name }) => name === 'Orders')
    assert(accounts[0] && ofAccount && ofAll && orders)
    const accountId = accounts[0].id
    await client.updateWebhook({ id: ofAccount.id, body: { eventTypes: null, enabled: false, description: 'By hand' } })
    await client.deleteWebhook({ id: ofAll.id })
    await client.updateAlertRule({
      id: orders.id,
      body: { conditions: { connectionBroken: true }, connectionIds: null, emails: [], slackUrl: null },
    })
    const drift = await party.plan(path)
    assert.deepEqual(actions(drift), [
      'update webhook https://hooks.example.com/${env:S3_KEY}',
      'update alertRule Orders',
      'create webhook https://hooks.example.com/all',
    ])
    assert.deepEqual(fieldsOf(drift), [
      'description',
      'eventTypes',
      'enabled',
      'emails',
      'conditions.transferFailed',
      'conditions.connectionBroken',
      'conditions.noSuccessHours',
      'connections',
      'slackUrl',
      'description',
    ])
    await party.apply(path)
    assert.deepEqual(await party.state(), before)

    await client.createWebhook({ body: { url: 'https://by-hand.example.com/', accountId } })
    await client.createWebhook({ body: { url: 'https://by-hand.example.com/' } })
    await client.createAlertRule({ body: { name: 'By hand', accountId, conditions: { transferFailed: true } } })
    const left = await party.plan(path)
    assert.deepEqual([actions(left), left.unmanaged.length], [[], 3])
    assert.match(describePlan(left), /Left alone, because no file has it: alert rule By hand of Acme Outdoor\n/)
    assert.match(describePlan(left), /webhook https:\/\/by-hand\.example\.com\/ of the organization\n/)
    // A file without the lists of the organization is not about them.
    const ofOne = await party.write(acme)
    assert.deepEqual(actions(await party.plan(ofOne, { allowDestroy: true })).sort(), [
      'delete alertRule By hand',
      'delete alertRule Orders',
      'delete webhook https://by-hand.example.com/',
      'delete webhook https://hooks.example.com/AKIAEXAMPLE',
    ])
    await party.apply(path, { allowDestroy: true })
    assert.deepEqual(await party.state(), before)
  })

  test('follow a rename and a replaced connection, and are left as they are where they were changed meanwhile', async () => {
    const party = await aParty()
    await party.apply(await party.write(heard))
    const moved = await party.write(
      heard
        .replace('name: Orders\n        source', 'name: Sales\n        was: [Orders]\n        source')
        .replace('[Orders, Returns]', '[Sales, Returns]')
        .replace('hooks.example.com/all', 'hooks.example.com/every\n    was: [https://hooks.example.com/all]')
        .replace('  - name: Returns\n    enabled', '  - name: Rejects\n    was: [Returns]\n    enabled'),
    )
    assert.deepEqual(fieldsOf(await party.plan(moved)), ['name', 'url', 'name'])
    await party.apply(moved)
    const swapped = await party.write(
      heard
        .replace('[Orders, Returns]', '[Returns]')
        .replace('emails: [data@example.com]', 'emails: [other@example.com]')
        .replace('description: Everything', 'description: All')
        .replaceAll('Orders', 'Sales'),
    )
    await party.apply(await party.write(heard.replaceAll('Orders', 'Sales')), { allowDestroy: true })
    const plan = await party.plan(swapped)
    const { webhooks, alertRules } = await readState(party.client)
    const webhook = webhooks.find(({ url }) => url.endsWith('/all'))
    const rule = alertRules.find(({ name }) => name === 'Sales')
    assert(webhook && rule)
    await party.client.updateWebhook({ id: webhook.id, body: { description: 'By hand' } })
    await party.client.updateAlertRule({ id: rule.id, body: { emails: ['by-hand@example.com'] } })
    const { done, failed } = await party.applyPlan(plan)
    assert.deepEqual([done, failed.map(({ changedMeanwhile }) => changedMeanwhile)], [[], [true, true]])
    assert.match(failed.map(({ problem }) => problem.message).join(), /\(description\).*\(emails\)/)
    await party.apply(swapped)
  })

  test('are made once by several that apply at once, and the secrets that were given are those of what is left', async () => {
    const party = await aParty()
    const path = await party.write(heard)
    const plans = await Promise.all([party.plan(path), party.plan(path), party.plan(path)])
    const given: string[] = []
    const results = await Promise.all(
      plans.map((plan) =>
        applyPlan(plan, {
          client: party.client,
          resolver: createResolver({ env: secrets }),
          onSecret: async ({ id }) => void given.push(id),
        }),
      ),
    )
    for (const { failed } of results) assert.deepEqual(failed, [])
    const { webhooks, alertRules } = await readState(party.client)
    assert.deepEqual([webhooks.length, alertRules.length], [2, 3])
    assert.deepEqual(given.sort(), webhooks.map(({ id }) => id).sort())
    assert.deepEqual(actions(await party.plan(path)), [])
  })

  test('that the service disabled are not enabled again, unless they change', async () => {
    const party = await aParty()
    const path = await party.write(heard)
    await party.apply(path)
    await service.database.pool.query(
      `update webhooks set enabled = false, disabled_reason = 'gone' where organization_id = $1 and account_id is null`,
      [party.organization.organizationId],
    )
    const plan = await party.plan(path)
    assert.deepEqual(actions(plan), [])
    assert.match(describePlan(plan), /The service disabled the webhook https:\/\/hooks\.example\.com\/all \(gone\)/)
    assert.match(
      (await party.export()).text,
      /url: https:\/\/hooks\.example\.com\/all\n {4}description: Everything\n {4}enabled: true/,
    )
    const repaired = await party.write(heard.replace('description: Everything', 'description: Repaired'))
    assert.deepEqual(fieldsOf(await party.plan(repaired)), ['description', 'enabled'])
    await party.apply(repaired)
  })

  test('are refused as a whole where something is wrong, and no address of a chat is shown', async () => {
    const party = await aParty()
    const wrong = async (from: string, to: string) => problemsOf(party.plan(await party.write(heard.replace(from, to))))
    const plain = await wrong('"${env:SLACK}"', secrets.SLACK)
    assert.match(plain, /0\.yaml:\d+:\d+: slackUrl of the alert rule Orders is in the file, .* Write a reference/)
    assert.doesNotMatch(plain, /canary/)
    assert.match(
      await wrong('[Orders, Returns]', '[Orders, Nothing]'),
      /There is no connection Nothing in the sub-account Acme/,
    )
    assert.match(
      await wrong('[Orders, Returns]', '[]'),
      /connections is empty: name at least one, or leave it out for all/,
    )
    assert.match(await wrong('{transferFailed: true}', '{}'), /alertRules\.0\.conditions must NOT have fewer than 1/)
    assert.match(
      await wrong('transfer.failed', 'transfer.lost'),
      /webhooks\.0\.eventTypes\.0 must be one of: transfer\.succeeded/,
    )
    assert.match(
      await wrong('- name: Returns\n    enabled', '- name: Failures\n    enabled'),
      /The alert rule Failures is at/,
    )
    const twice = await wrong('description: Everything', 'description: A\n  - url: https://hooks.example.com:443/all')
    assert.match(twice, /The webhook https:\/\/hooks\.example\.com:443\/all is at .*, too: remove one of both/)
    assert.match(await wrong('{account: Acme Outdoor, connection: Returns}', 'Returns'), /connections\.0 must be a map/)
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
      (await party.state()).accounts.map(({ connections }) => connections.length),
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
      accountId: account.id,
      id: orders.id,
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
      (await party.state()).accounts[0]?.connections.map(({ name }) => name),
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

  test(`of ${many} connections makes the same in an empty service, in few requests`, large, async (t) => {
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
    const url = (path: string) => `https://hooks.example.com/${path}`
    const state = await readState(party.client)
    for (const { id: accountId, name, connections } of state.accounts) {
      await party.client.createWebhook({
        body: { url: url(encodeURI(name)), accountId, eventTypes: ['transfer.failed'] },
      })
      const body = { accountId, conditions: { transferFailed: true }, slackUrl: secrets.SLACK }
      await party.client.createAlertRule({ body: { ...body, name: `All of ${name}`, emails: ['all@example.com'] } })
      const connectionIds = connections.slice(0, 20).map(({ id }) => id)
      await party.client.createAlertRule({ body: { ...body, name: `Some of ${name}`, connectionIds } })
    }
    const connectionIds = state.accounts.map(({ connections }) => connections[0]?.id ?? '')
    await party.client.createAlertRule({
      body: { name: 'One of each', connectionIds, conditions: { rejectedPercent: 5 } },
    })
    await party.client.createWebhook({ body: { url: url('all'), description: 'Everything', enabled: false } })
    const measured = async <T>(what: string, requests: string[], work: () => Promise<T>) => {
      requests.length = 0
      const started = performance.now()
      const result = await work()
      t.diagnostic(`${what}: ${requests.length} requests, ${((performance.now() - started) / 1000).toFixed(1)} s`)
      return { result, requests: [...requests] }
    }
    const exported = await measured('export', party.requests, () => party.export())
    // Three pages of lists for so many, the token, the sub-accounts, webhooks, alert rules, and the definition of each connector.
    assert(exported.requests.length <= 7 + Math.ceil(many / 500) * 2 + 2, exported.requests.join('\n'))
    const path = await party.write(exported.result.text)
    t.diagnostic(`${(exported.result.text.length / 1024).toFixed(0)} KiB`)
    const env = Object.fromEntries(exported.result.variables.map((name) => [name, secrets.SLACK]))
    const other = await aParty()
    const plan = await measured('plan of an empty service', other.requests, () => other.plan(path, { env }))
    const applied = await measured('apply', other.requests, () => other.applyPlan(plan.result, env))
    assert.deepEqual(
      applied.result.failed.map(({ problem }) => problem.message),
      [],
    )
    // One to create, one for its schedule, one to activate each; and those of the sub-accounts.
    assert(applied.requests.length <= many * 3 + accounts * 20 + 20, `${applied.requests.length}`)
    const again = await measured('plan that finds nothing', other.requests, () => other.plan(path, { env }))
    assert.deepEqual(actions(again.result), [])
    assert.deepEqual(await other.state(), await party.state())
    // Drift made by hand.
    const [account] = (await readState(other.client)).accounts
    const [connection] = account?.connections ?? []
    assert(account && connection)
    await other.client.updateConnection({
      accountId: account.id,
      id: connection.id,
      body: { srcConnectionConfig: { bucketUri: 's3://by-hand/' } },
    })
    await other.client.deleteConnection({ accountId: account.id, id: account.connections[1]?.id ?? '' })
    const { webhooks, alertRules } = await readState(other.client)
    await other.client.deleteWebhook({ id: webhooks[0]?.id ?? '' })
    await other.client.deleteAlertRule({ id: alertRules.find(({ accountId }) => accountId !== account.id)?.id ?? '' })
    const repaired = await measured('repair', other.requests, () => other.apply(path, { env }))
    assert.deepEqual(repaired.result.map(({ action }) => action).sort(), [
      'create',
      'create',
      'create',
      'update',
      'update',
    ])
    assert.deepEqual(await other.state(), await party.state())
  })
})
