import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemsOf, wordsOf } from './problems.ts'

test('problems name the label of a field, never its place in the request', () => {
  const of = (field: string, message: string) => problemsOf([{ field, message }])[0]
  assert.equal(of('body.accountIds', 'must not be empty'), 'Sub-accounts must not be empty.')
  assert.equal(of('body.allowedOrigins.1', 'is not an address'), 'Allowed origins is not an address.')
  assert.equal(of('body.name', 'at most 200 characters'), 'Name: at most 200 characters.')
  assert.equal(of('body.destConnectionConfig.writeMode', 'is required: Write mode'), 'Write mode is required.')
  assert.equal(
    of('destConnector', 'is not added to this sub-account'),
    'The destination is not added to this sub-account.',
  )
  assert.equal(of('connection.5c0f', 'Orders uses this connector'), 'Orders uses this connector.')
  assert.equal(
    of('webhooks', 'at most 20: delete webhooks that are not used'),
    'At most 20: delete webhooks that are not used.',
  )
  assert.doesNotMatch(of('id', 'starts no transfers until 2026-11-29T22:00:00.000Z') ?? '', /T22|Z/)
})

test('internal names in words', () => {
  assert.deepEqual(['startDate', 'redirectUrl', 'customer_id'].map(wordsOf), [
    'Start date',
    'Redirect URL',
    'Customer ID',
  ])
})
