import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Connector, Row } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { batchOf, connectorErrorOf, type Received, type Reply, startPlatform } from '../../test/platform-server.ts'
import { liverampEnvelopeDecryption } from './liveramp-envelope-decryption.ts'
import { liverampTranscoding } from './liveramp-transcoding.ts'

/** A server with the examples of developers.liveramp.com/rampid-api. */

let answer: (received: Received) => Reply = () => ({})
const server = await startPlatform((received) => {
  if (received.path === '/token') {
    const isGood = new URLSearchParams(received.text).get('client_secret') === 'good'
    return isGood ? { json: { access_token: 't', token_type: 'Bearer', expires_in: 900 } } : { status: 401, json: {} }
  }
  return received.headers.authorization === 'Bearer t' ? answer(received) : { status: 403, json: {} }
})
after(() => server.close())
const rampId = (link: string) => ({
  code: 200,
  document: { person: { anonymousAbilitec: { anonymousConsumerLink: link } } },
})
beforeEach(() => {
  answer = ({ json }) => ({ json: (json as string[]).map((_, at) => rampId(`translated${at + 1}`)) })
})

async function send(connector: Connector, column: string, values: readonly (string | null)[], changes: object = {}) {
  const context = testContext({
    secrets: { clientId: 'app', clientSecret: 'good' },
    settings: { outcomes: 'Outcomes' },
    columns: [column],
    routes: { 'https://us.identity.api.liveramp.com': server.url },
    ...changes,
  })
  const writer = await connector.destination?.deliver?.open(context)
  assert(writer)
  return writer.deliver(
    batchOf(
      [column],
      values.map((value): Row => [value]),
    ),
  )
}

describe('lookups of LiveRamp', () => {
  const mine = 'XYT999wXyWPB1SgpMUKlpzA0UoRYyAS'

  test('translate RampIDs of people and households, with the encoding of a partner or without', async () => {
    const settings = { outcomes: 'Outcomes', partnerEncoding: 'T001' }
    const { answers, rejected } = await send(liverampTranscoding, 'ramp_id', [mine, `HY${mine.slice(2)}`], { settings })
    assert.deepEqual([answers, rejected], [[{ rampId: 'translated1' }, { rampId: 'translated2' }], []])
    const asked = server.received.at(-1)
    assert.deepEqual(asked?.json, [
      `/people/anonymousAbilitec/?key=${mine}`,
      `/households/anonymousAbilitec/?key=HY${mine.slice(2)}`,
    ])
    assert.deepEqual(
      [...(asked?.query ?? [])],
      [
        ['role', 'rampid-transcoding'],
        ['partnerEncoding', 'T001'],
      ],
    )
    await send(liverampTranscoding, 'ramp_id', [mine])
    assert.equal(server.received.at(-1)?.query.get('partnerEncoding'), null)
  })

  test('decrypt envelopes', async () => {
    const { answers } = await send(liverampEnvelopeDecryption, 'envelope', ['Ajc+/=x'])
    assert.deepEqual(answers, [{ rampId: 'translated1' }])
    assert.deepEqual(server.received.at(-1)?.json, ['/people/envelope/?key=Ajc%2B%2F%3Dx'])
  })

  test('reject rows that LiveRamp does not answer, and values that are no identifiers', async () => {
    answer = () => ({ json: [rampId('x'), { code: 404 }, { code: 200, document: {} }] })
    const { answers, rejected = [] } = await send(liverampTranscoding, 'ramp_id', [
      mine,
      mine,
      mine,
      'a@example.com',
      null,
    ])
    assert.deepEqual(answers, [{ rampId: 'x' }, null, null, null, null])
    assert.deepEqual(rejected.map(({ index }) => index).toSorted(), [1, 2, 3, 4])
    assert(rejected.some(({ reason }) => reason === 'LiveRamp has no answer for the value (code 404).'))
  })

  test('fail with what is wrong', async () => {
    const codeOf = async (changes: object) =>
      (
        await connectorErrorOf(send(liverampTranscoding, 'ramp_id', [mine], changes), {
          secrets: { clientSecret: 'good' },
        })
      ).code
    assert.equal(await codeOf({ secrets: { clientId: 'app', clientSecret: 'bad' } }), 'invalid_credentials')
    assert.equal(await codeOf({ settings: {} }), 'invalid_setting')
    assert.equal(await codeOf({ settings: { outcomes: 'x', partnerEncoding: 'a/../b' } }), 'invalid_setting')
    for (const json of [{}, [], [rampId('a'), rampId('b')]]) {
      answer = () => ({ json })
      assert.equal(await codeOf({}), 'malformed_response')
    }
    answer = () => ({ status: 403, json: { error: { code: '600-0040' } } })
    assert.equal(await codeOf({}), 'expired_credentials')
  })
})
