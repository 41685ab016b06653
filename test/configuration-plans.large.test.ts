import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describePlan, readState, viewPlan } from '@penstock/configuration'
import { acme, actions, codeService, fieldsOf, hooks, problemsOf, secrets } from './harness/configuration-code.ts'
import { connectorBySlug } from './harness/fixtures.ts'

/** Configuration as code: what a plan finds and what apply creates. */

const { aParty } = codeService()

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

    // The first one stays as long as there are others. A configuration that no file contains is removed.
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
    assert.match(problems, /connection Nothing\b[\s\S]*does not exist[\s\S]*group Other/)
    await party.apply(await party.write(text.replace('[Returns]', '[]').replace('group: warehouse', "group: ''")))
    await party.apply(await party.write(acme.replace('    connections:', '    groups: []\n    connections:')), {
      allowDestroy: true,
    })
    assert.equal((await party.client.listTransferGroups({})).total, 0)
  })

  test('replaces a connection that runs after another one', async () => {
    const party = await aParty()
    const text = acme.replace('- name: Returns\n', '- name: Returns\n        runAfter: [Orders]\n')
    await party.apply(await party.write(text))
    const moved = text
      .replace('- connector: webhook\n', '- connector: local-folder\n      - connector: webhook\n')
      .replace(
        '{connector: amazon-s3-source, settings: {bucketUri: "s3://acme/returns/"}}',
        '{connector: local-folder}',
      )
    await party.apply(await party.write(moved), { allowDestroy: true })
    const [account] = (await readState(party.client)).accounts
    const returns = account?.connections.find(({ name }) => name === 'Returns')
    assert.deepEqual([returns?.source, returns?.after], ['local-folder', ['Orders']])
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
})
