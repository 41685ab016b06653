import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { startDatabricksServer } from '../../test/databricks-server.ts'
import { makeOwnIssuer } from '../../test/own-issuer.ts'
import { databricksDestination } from './databricks-destination.ts'
import { databricksSource } from './databricks-source.ts'

const { trusted, subject, identityToken } = await makeOwnIssuer()
const databricks = await startDatabricksServer()
after(() => databricks.close())
beforeEach(() => {
  databricks.policy = { trusted, audiences: ['databricks'], subject }
})
const { host = '' } = databricks.secrets
const signIn = { host, authType: 'federation', clientId: 'client-1', identityAudience: 'databricks' }

const outcomeOf = async (secrets: Values = signIn, connector = databricksSource) => {
  assert(connector.check)
  const steps = await connector.check(testContext({ secrets, routes: databricks.routes, identityToken }))
  assert(!/canary|eyJ/.test(JSON.stringify(steps)))
  const failed = steps.find(({ ok }) => !ok)
  return failed ? `${failed.code}: ${failed.message}` : 'ok'
}

describe('Databricks without a secret', () => {
  test('signs in as a service principal that trusts the identity', async () => {
    for (const connector of [databricksSource, databricksDestination]) {
      assert.equal(await outcomeOf(signIn, connector), 'ok')
    }
  })

  test('says what the federation policy must contain', async () => {
    databricks.policy = { trusted, audiences: ['databricks'], subject: 'penstock:another:one' }
    assert.match(
      await outcomeOf(),
      /^invalid_credentials: .*issuer https:\/\/penstock\.example\.com, the subject penstock:\w+:\w+ and the audience databricks/,
    )
    databricks.policy = { trusted, audiences: ['other'], subject }
    assert.match(await outcomeOf(), /^invalid_credentials: /)
    assert.match(await outcomeOf({ ...signIn, clientId: 'client-2' }), /^invalid_credentials: /)
  })

  test('sends the identity to no other host', async () => {
    for (const other of [
      'example.com',
      `${host}.example.com`,
      `${host}:8443`,
      'cloud.databricks.com',
      'xcloud.databricks.com.evil.example',
    ]) {
      assert.match(await outcomeOf({ ...signIn, host: other }), /^invalid_setting: /, other)
    }
  })
})
