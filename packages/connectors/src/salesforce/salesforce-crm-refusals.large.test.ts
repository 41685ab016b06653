import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { assertFailure, batchOf, connectorErrorOf, type Failure } from '../../test/platform-server.ts'
import {
  myDomain,
  salesforceRoutes,
  salesforceUser,
  salesforceSecrets as secrets,
  startSalesforce,
} from '../../test/salesforce-server.ts'
import { salesforceCrm as connector } from './salesforce-crm.ts'

const server = await startSalesforce()
after(() => server.close())
const routes = salesforceRoutes(server.url)
const columns = ['Customer_Key__c', 'LastName', 'Email']
const settings = { objectName: 'Contact', operation: 'Upsert', externalIdField: 'Customer_Key__c' }
const person = (key: string, name: string | null = `Name, "${key}"\nof two lines`): Row => [
  key,
  name,
  `${key}@example.com`,
]
const startedTime = () => new Date().toISOString()

const contextOf = (options: TestContextOptions = {}) =>
  testContext({ secrets, settings, routes, columns, startedTime: startedTime(), ...options })
const openWriter = async (options: TestContextOptions = {}) => {
  const { deliver } = connector.destination ?? {}
  assert.ok(deliver)
  return await deliver.open(contextOf(options))
}
const sentJobs = () =>
  server.received.filter(({ method, path }) => method === 'POST' && path.endsWith('/jobs/ingest')).length
const bare = (error: { action: string; code: string }) => [error.action, error.code]

describe('what Salesforce refuses, as a destination', () => {
  beforeEach(() => {
    server.reset()
    server.calm()
  })

  test('maps failed jobs and answers to codes', async () => {
    const setting = { server, context: contextOf(), match: /GET .*ingest\/750\w+$/ }
    const answers: [Failure, string, string, number?][] = [
      [{ status: 429, headers: { 'retry-after': '70' }, json: [{ errorCode: 'X' }] }, 'retry', 'rate_limited', 70_000],
      [{ status: 403, json: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED' }] }, 'retry', 'rate_limited', 600_000],
      [{ status: 400, json: [{ errorCode: 'jane@example.com' }] }, 'fail', 'request_refused'],
      [{ status: 410, json: [{ errorCode: 'UNSUPPORTED_API_VERSION' }] }, 'fail', 'version_retired'],
      [{ status: 404, json: [{ errorCode: 'NOT_FOUND' }] }, 'reconfigure', 'object_not_found'],
    ]
    for (const [at, [failure, action, code, afterMs]] of answers.entries()) {
      server.reset()
      const wanted = { action: action as 'retry', code, ...(afterMs !== undefined && { afterMs }) }
      await assertFailure(setting, await openWriter(), batchOf(columns, [person(`a${at}`)]), failure, wanted)
    }
    for (const [message, action, code] of [
      ['InvalidBatch : Field name not found : jane@example.com', 'reconfigure', 'columns_do_not_fit'],
      ['ExceededQuota : ApiBatchItems Limit exceeded.', 'retry', 'rate_limited'],
    ] as const) {
      server.reset()
      server.processing.fails = message
      const error = await connectorErrorOf((await openWriter()).deliver(batchOf(columns, [person(code)])), contextOf())
      assert.deepEqual(bare(error), [action, code])
      assert.ok(!error.message.includes('jane'))
      // A limit that is over is no reason to refuse the rows again.
      await (await openWriter()).deliver(batchOf(columns, [person(code)]))
      assert.deepEqual(
        server.jobs.map(({ state }) => state),
        ['Failed', 'JobComplete'],
      )
    }
    for (const json of [[], {}, { id: '../x', state: 'Open', createdDate: 'now' }, 'text']) {
      server.failure(/POST .*ingest$/, { json })
      const failed = await (await openWriter()).deliver(batchOf(columns, [person('z')])).catch((error) => error.code)
      assert.equal(failed, 'malformed_response')
    }
  })

  test('refuses invalid columns and settings before anything is sent', async () => {
    const sent = sentJobs()
    for (const [own, cols, code] of [
      [settings, ['Customer_Key__c', 'Nickname__c'], 'columns_do_not_fit'],
      [settings, ['LastName'], 'columns_do_not_fit'],
      [settings, ['Customer_Key__c', 'LastName', 'lastname'], 'columns_do_not_fit'],
      [settings, ['Customer_Key__c', 'SystemModstamp'], 'columns_do_not_fit'],
      [settings, ['Customer_Key__c', 'Owner.Key__c'], 'columns_do_not_fit'],
      [settings, ['Customer_Key__c', 'Lead:Owner.Key__c'], 'columns_do_not_fit'],
      [settings, ['Customer_Key__c', 'Account.Owner.Name'], 'columns_do_not_fit'],
      [{ ...settings, externalIdField: 'Age__c' }, ['Age__c'], 'invalid_setting'],
      [{ ...settings, externalIdField: '' }, columns, 'invalid_setting'],
      [{ ...settings, objectName: '../x' }, columns, 'invalid_setting'],
      [{ ...settings, objectName: 'Gone__c' }, columns, 'object_not_found'],
    ] as const) {
      const work = openWriter({ settings: own, columns: cols }).then((writer) =>
        writer.deliver(batchOf(cols, [cols.map(() => 'x')])),
      )
      assert.equal((await connectorErrorOf(work, contextOf())).code, code, `${JSON.stringify(own)} ${cols.join()}`)
    }
    assert.equal(sentJobs(), sent)
    const { inspect } = connector.destination?.deliver ?? {}
    assert.ok(inspect)
    const findings = await inspect(
      contextOf({ columns: ['Customer_Key__c', 'Account.Key__c', 'User:Owner.Email', 'Nickname__c'] }),
    )
    assert.deepEqual(
      findings.map(({ code, column }) => [code, column]),
      [
        ['columns_do_not_fit', 'Nickname__c'],
        ['required_column_not_delivered', undefined],
      ],
    )
  })

  test('signs in for a user, and sends a token to hosts of Salesforce alone', async () => {
    const { check } = connector
    assert.ok(check)
    const steps = async (own: Values) => (await check(contextOf({ secrets: own, settings: {} }))).map(({ ok }) => ok)
    assert.deepEqual(await steps({ ...salesforceUser, authType: 'oauth2', organizationType: 'Sandbox' }), [
      true,
      true,
      true,
    ])
    // Configurations from before there were two ways to sign in.
    assert.deepEqual(await steps(salesforceUser), [true, true, true])
    assert.deepEqual(await steps({ ...salesforceUser, refreshToken: 'revoked' }), [true, false])
    try {
      for (const instance of [
        undefined,
        'https://evil.example.com',
        `https://${myDomain}.example.com`,
        `https://${myDomain}@evil.example`,
        `http://${myDomain}`,
        'https://acme.lightning.force.com',
        `https://${myDomain}:444`,
      ]) {
        server.instanceUrl = instance
        const before = server.received.length
        assert.deepEqual(await steps(salesforceUser), [true, false], String(instance))
        assert.equal(server.received.slice(before).filter(({ path }) => path.startsWith('/services/data')).length, 0)
      }
      server.instanceUrl = undefined
      assert.deepEqual(await steps(secrets), [true, true, true])
    } finally {
      server.instanceUrl = `https://${myDomain}`
    }
    for (const host of [
      'evil.example.com',
      'my.salesforce.com',
      `${myDomain}/x`,
      'acme.my.salesforce.com.evil.com',
      'a.b.my.salesforce.com',
      '',
    ]) {
      assert.equal(
        (
          await connectorErrorOf(
            (await openWriter({ secrets: { ...secrets, myDomain: host } })).deliver(batchOf(columns, [person('a')])),
            contextOf(),
          )
        ).code,
        'invalid_setting',
        host,
      )
    }
    server.failure(/oauth2\/token$/, {
      status: 400,
      json: { error: 'invalid_grant', error_description: 'token request is already being processed' },
    })
    const busy = await connectorErrorOf(
      (await openWriter({ secrets: salesforceUser })).deliver(batchOf(columns, [person('a')])),
      contextOf(),
    )
    assert.equal(busy.action, 'retry')
  })
})
