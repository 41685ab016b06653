import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { digestOf, readState } from '@penstock/configuration'
import { parse } from 'yaml'
import { acme, actions, codeService, problemsOf, secrets } from './harness/configuration-code.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { large } from './harness/tiers.ts'

/** Configuration as code: apply and export. */

const { aParty } = codeService()

/** How many connections the large test creates. `PENSTOCK_TEST_CONNECTIONS=1000` reproduces the figures in the documents. */
const many = Number(process.env.PENSTOCK_TEST_CONNECTIONS ?? 200)

async function eachOf(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const take = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all([take(), take(), take(), take()])
}

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
      /changed after the plan was made \(source\.settings\.bucketUri\), so apply did not change it\. Plan again/,
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
    // Without identifiers, it is ambiguous which one is meant.
    const unnamed = text.replaceAll(/\n *id: .*/g, '').replace('name: Twin', 'name: Other')
    assert.match(
      await problemsOf(party.plan(await party.write(unnamed))),
      /Several resources match the connection Twin .*[0-9a-f]{16} \(Twin\), [0-9a-f]{16}/,
    )
    assert.match(
      await problemsOf((await aParty()).plan(path)),
      /This service has no connection Twin of the sub-account A with the identifier/,
    )
  })

  test(`of ${many} connections makes the same in an empty service, in few requests`, large, async (t) => {
    const party = await aParty()
    const accounts = 10
    for (let n = 1; n <= accounts; n++) {
      const account = await party.caller.addAccountWithSides(`Brand ${n}`)
      await party.caller.configureSides(account.id)
      // As many concurrently as the service has connections to its database.
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
    // Three pages of lists, the token, the sub-accounts, webhooks, alert rules, and the definition of each connector.
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
    // For each connection one request to create it, one for its schedule and one to activate it, and the requests of the
    // sub-accounts.
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
