import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PersonIdentifier } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { connectorErrorOf, type Reply, startPlatform } from '../../test/platform-server.ts'
import { erasedBy } from './definition/parse-definition.ts'
import { httpApi } from './http-api.ts'

/** How a definition erases people, and what an API can answer. */

const { erasure } = httpApi.destination ?? {}
assert.ok(erasure)
const jane: PersonIdentifier = { kind: 'email', value: 'jane@example.com' }
const token = 'canary-of-the-erasure'
const found = `erasure: { email: {
  find: { path: /people, query: { q: "{{ person }}" }, at: data, where: entry.email == person, value: entry.id },
  method: DELETE, path: "/people/{{ found }}", missing: status == 404, outcome: deleted } }`

async function erase(definition: string, answers: readonly Reply[], person = jane) {
  const server = await startPlatform(() => answers[Math.min(server.received.length, answers.length) - 1] ?? {})
  try {
    const secrets = { url: server.url, authentication: 'bearer token', apiToken: token, definition }
    const context = testContext({ secrets })
    const erasing = (async () => (await erasure?.open(context))?.(person))()
    const [settled] = await Promise.allSettled([erasing])
    return {
      erasing: () => erasing,
      settled,
      requests: server.received.map(({ method, path }) => `${method} ${path}`),
      secrets: { token },
    }
  } finally {
    await server.close()
  }
}
const outcomeOf = ({ settled }: Awaited<ReturnType<typeof erase>>) =>
  settled?.status === 'fulfilled' ? settled.value : assert.fail(String(settled?.reason))
const refusedBecause = async (asked: Awaited<ReturnType<typeof erase>>) =>
  (await connectorErrorOf(asked.erasing(), asked)).message

describe('the erasure of a definition', () => {
  test('erases each person that was found, and nobody who was not asked for', async () => {
    const data = [
      { id: 'a/b', email: 'jane@example.com' },
      { id: 'c', email: 'john@example.com' },
      { id: 'd', email: 'jane@example.com' },
    ]
    const asked = await erase(found, [{ json: { data } }, { status: 204, text: '' }, { status: 404, json: {} }])
    assert.deepEqual(outcomeOf(asked), { outcome: 'deleted' })
    assert.deepEqual(asked.requests, ['GET /people', 'DELETE /people/a%2Fb', 'DELETE /people/d'])
    assert.deepEqual(outcomeOf(await erase(found, [{ json: { data: [] } }])), { outcome: 'notFound' })
    assert.deepEqual(outcomeOf(await erase(found, [{ status: 404, json: {} }])), { outcome: 'notFound' })
  })

  test('does not follow an API that answers with people without an ID, without a list, or with too many', async () => {
    const many = Array.from({ length: 101 }, (_, id) => ({ id, email: jane.value }))
    for (const data of [undefined, [{ email: jane.value }], many]) {
      const asked = await erase(found, [{ json: { data } }])
      assert.match(await refusedBecause(asked), /did not answer with a list|too many people, or with one without an ID/)
      assert.deepEqual(asked.requests, ['GET /people'])
    }
    const up = await erase(found, [{ json: { data: [{ id: '..', email: jane.value }] } }])
    assert.match(await refusedBecause(up), /\. or \.\./)
    assert.deepEqual(up.requests, ['GET /people'])
  })

  test('does not take an unknown path for an unknown person', async () => {
    const asked = await erase('erasure: { email: { path: "/people/{{ person }}", method: DELETE } }', [{ status: 404 }])
    assert.match(await refusedBecause(asked), /does not know an object/)
  })

  test('shows why an API refuses, without the credentials', async () => {
    const definition = `erasure: { email: { path: /erase, body: { email: "{{ person }}" }, result: { reason: "{{ response.why }}" } } }`
    const answer = outcomeOf(await erase(definition, [{ status: 422, json: { why: `no, ${token}` } }]))
    assert.equal(answer?.outcome, 'refused')
    assert.match(answer.outcome === 'refused' ? answer.reason : '', /^The API says: no,/)
    assert(!JSON.stringify(answer).includes(token))
  })

  test('repeats what the API could not answer', async () => {
    const definition = 'erasure: { email: { path: /erase, body: { id: "{{ id }}" } } }'
    const asked = await erase(definition, [{ status: 503 }, { json: {} }])
    assert.deepEqual([outcomeOf(asked), asked.requests.length], [{ outcome: 'requested' }, 2])
  })

  test('says what is wrong with a definition', () => {
    const wrong = (definition: string) => httpApi.secrets.definition?.wrong?.(definition) ?? ''
    assert.equal(wrong(found), '')
    assert.match(wrong('erasure: { mail: { path: /a } }'), /mail is not known here/)
    assert.match(wrong('erasure: {}'), /needs one of: email, phone, externalId/)
    assert.match(wrong('erasure: { email: { path: "/{{ found }}" } }'), /found.*is not known/)
    assert.match(wrong('erasure: { email: { path: "/{{ row.email }}" } }'), /row.*is not known/)
    assert.match(wrong('erasure: { email: { path: /a, result: { taken: "1" } } }'), /no rows/)
    assert.match(wrong('erasure: { email: { path: /a, outcome: gone } }'), /deleted, requested/)
    assert.deepEqual(erasedBy(found), ['email'])
    assert.deepEqual(erasedBy('erasure: ['), [])
  })
})
