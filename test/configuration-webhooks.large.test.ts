import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { applyPlan, createResolver, describePlan, readState, viewPlan } from '@penstock/configuration'
import { noAlertConditions } from '@penstock/wire'
import { acme, actions, codeService, fieldsOf, hooks, problemsOf, secrets } from './harness/configuration-code.ts'

/** Configuration as code: webhooks and alert rules. */

const { running, aParty } = codeService()

/** The same with webhooks and alert rules, of the sub-account and of the organization. */
const heard = `${acme}    webhooks:
      - url: https://hooks.example.com/\${env:S3_KEY}
        eventTypes: [transfer.failed, connection.deleted]
        enabled: true
    alertRules:
      - name: Orders
        conditions: {transferFailed: true, noSuccessHours: 26, matchFellPercent: 20}
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
    // The service returns each signing secret once. The test saves it instead of the created value.
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
        conditions: { ...noAlertConditions, transferFailed: true, noSuccessHours: 26, matchFellPercent: 20 },
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
        conditions: { ...noAlertConditions, transferFailed: true },
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
        conditions: { ...noAlertConditions, rejectedPercent: 2.5, volumePercent: 40 },
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
      'conditions.matchFellPercent',
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
    assert.match(describePlan(left), /Not changed, because it is in no file: alert rule By hand of Acme Outdoor\n/)
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
    await running.service.database.pool.query(
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
    assert.match(
      plain,
      /0\.yaml:\d+:\d+: slackUrl of the alert rule Orders is in the file in plain text, .* Write a reference/,
    )
    assert.doesNotMatch(plain, /canary/)
    assert.match(
      await wrong('[Orders, Returns]', '[Orders, Nothing]'),
      /There is no connection Nothing in the sub-account Acme/,
    )
    assert.match(
      await wrong('[Orders, Returns]', '[]'),
      /connections is empty\. Add a connection, or omit the key for all connections/,
    )
    assert.match(await wrong('{transferFailed: true}', '{}'), /alertRules\.0\.conditions must NOT have fewer than 1/)
    assert.match(
      await wrong('transfer.failed', 'transfer.lost'),
      /webhooks\.0\.eventTypes\.0 must be one of: transfer\.succeeded/,
    )
    assert.match(
      await wrong('- name: Returns\n    enabled', '- name: Failures\n    enabled'),
      /The alert rule Failures is also at/,
    )
    const twice = await wrong('description: Everything', 'description: A\n  - url: https://hooks.example.com:443/all')
    assert.match(twice, /The webhook https:\/\/hooks\.example\.com:443\/all is also at .*\. Remove one of them/)
    assert.match(await wrong('{account: Acme Outdoor, connection: Returns}', 'Returns'), /connections\.0 must be a map/)
  })
})
