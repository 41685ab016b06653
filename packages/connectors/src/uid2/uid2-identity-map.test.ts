import assert from 'node:assert/strict'
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { batchOf, connectorErrorOf, type Received, type Reply, startPlatform } from '../../test/platform-server.ts'
import { euidIdentityMap } from './euid-identity-map.ts'
import { uid2IdentityMap } from './uid2-identity-map.ts'

/** A server that decrypts requests and encrypts answers as the public documents of UID2 describe. */

const clientSecret = Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')
const key = Buffer.from(clientSecret, 'base64')
type Asked = Readonly<Record<string, readonly string[]>>

function openRequest(text: string): { ms: number; nonce: Buffer; asked: Asked } {
  const bytes = Buffer.from(text, 'base64')
  assert.equal(bytes[0], 1, 'the version of the envelope')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 13)).setAuthTag(bytes.subarray(-16))
  const plain = Buffer.concat([decipher.update(bytes.subarray(13, -16)), decipher.final()])
  const asked = JSON.parse(plain.subarray(16).toString('utf8'))
  return { ms: Number(plain.readBigUInt64BE(0)), nonce: plain.subarray(8, 16), asked }
}
function sealAnswer(nonce: Buffer, content: unknown): string {
  const [iv, time] = [randomBytes(12), Buffer.alloc(8)]
  time.writeBigUInt64BE(BigInt(Date.now()))
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const sealed = cipher.update(Buffer.concat([time, nonce, Buffer.from(JSON.stringify(content))]))
  return Buffer.concat([iv, sealed, cipher.final(), cipher.getAuthTag()]).toString('base64')
}

let entryOf = (value: string): object => ({ u: `raw-${value}`, p: null, r: 1_800_000_000 })
let change: (answer: { nonce: Buffer; body: Record<string, unknown[]> }) => Reply | undefined = () => undefined
const server = await startPlatform(({ path, headers, text }: Received) => {
  if (path !== '/v3/identity/map') return { status: 404 }
  if (headers.authorization !== 'Bearer UID2-C-T-1-good') return { status: 401, json: { status: 'unauthorized' } }
  const { ms, nonce, asked } = openRequest(text)
  assert(Math.abs(Date.now() - ms) < 60_000)
  const body = Object.fromEntries(Object.entries(asked).map(([by, values]) => [by, values.map((one) => entryOf(one))]))
  return change({ nonce, body }) ?? { text: sealAnswer(nonce, { body, status: 'success' }) }
})
after(() => server.close())
beforeEach(() => {
  entryOf = (value) => ({ u: `raw-${value}`, p: null, r: 1_800_000_000 })
  change = () => undefined
})

describe('the identity map of UID2', () => {
  const secrets = { apiKey: 'UID2-C-T-1-good', clientSecret }
  const columns = ['email', 'email_hash', 'phone', 'phone_hash']
  const hash = 'tMmiiTI7IaAcPpQPFQ65uMVCWH8av9jw4cwf/F5HVRQ='
  const routes = { 'https://prod.uidapi.com': server.url, 'https://prod.euid.eu': server.url }
  const context = (changes: object = {}) =>
    testContext({ secrets, settings: { outcomes: 'Outcomes' }, columns, routes, ...changes })
  const send = async (rows: readonly Row[], connector = uid2IdentityMap, changes: object = {}) => {
    const writer = await connector.destination?.deliver?.open(context(changes))
    assert(writer)
    return writer.deliver(batchOf(columns, rows))
  }

  test('answers for each row, of whichever kind, in its order', async () => {
    entryOf = (value) =>
      value === '+4930123' ? { u: 'raw-new', p: 'raw-old', r: 1_900_000_000 } : { u: `raw-${value}`, p: null, r: 1 }
    const { answers, rejected } = await send([
      [null, null, '+4930123', null],
      ['a@example.com', null, null, null],
      [null, hash, null, null],
      ['b@example.com', null, '+49301', null],
    ])
    assert.deepEqual(rejected, [])
    assert.deepEqual(answers, [
      { uid2: 'raw-new', previous: 'raw-old', refreshTime: 1_900_000_000 },
      { uid2: 'raw-a@example.com', refreshTime: 1 },
      { uid2: `raw-${hash}`, refreshTime: 1 },
      { uid2: 'raw-b@example.com', refreshTime: 1 },
    ])
    const { answers: ofEuid } = await send([['a@example.com', null, null, null]], euidIdentityMap)
    assert.deepEqual(ofEuid, [{ euid: 'raw-a@example.com', refreshTime: 1 }])
  })

  test('rejects people who opted out, values that UID2 refuses, and rows without an identifier', async () => {
    entryOf = (value) => ({ e: value.startsWith('gone') ? 'optout' : 'invalid identifier' })
    const { answers, rejected = [] } = await send([
      ['gone@example.com', null, null, null],
      ['wrong', null, null, null],
      [null, null, null, null],
      [null, 'abc', null, null],
    ])
    assert.deepEqual(answers, [null, null, null, null])
    assert.deepEqual(
      rejected.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)).map(({ reason }) => reason),
      [
        'The person opted out of UID2. Remove them everywhere.',
        'UID2 does not accept the identifier.',
        'The row has no e-mail address and no phone number.',
        'The value is not a SHA-256 digest in Base64.',
      ],
    )
  })

  test('is believed only if it answers this request, and all of it', async () => {
    const row: Row = ['a@example.com', null, null, null]
    const replies: (typeof change)[] = [
      ({ body }) => ({ text: sealAnswer(randomBytes(8), { body }) }),
      ({ nonce }) => ({ text: sealAnswer(nonce, { body: { email: [] } }) }),
      ({ nonce }) => ({ text: sealAnswer(nonce, { body: { email: [{}] } }) }),
      ({ nonce, body }) => ({ text: `AAAA${sealAnswer(nonce, { body }).slice(4)}` }),
      () => ({ text: 'not sealed' }),
    ]
    for (const reply of replies) {
      change = reply
      assert.equal((await connectorErrorOf(send([row]), { secrets })).code, 'malformed_response')
    }
  })

  test('needs good credentials, and a place for its answers', async () => {
    const row: Row = ['a@example.com', null, null, null]
    const codeOf = async (changes: object) =>
      (await connectorErrorOf(send([row], uid2IdentityMap, changes), { secrets })).code
    assert.equal(await codeOf({ secrets: { ...secrets, apiKey: 'other' } }), 'invalid_credentials')
    assert.equal(await codeOf({ secrets: { ...secrets, clientSecret: 'c2hvcnQ=' } }), 'invalid_credentials')
    assert.equal(await codeOf({ settings: {} }), 'invalid_setting')
    const steps = await uid2IdentityMap.check?.(context())
    assert.deepEqual(
      steps?.map(({ ok }) => ok),
      [true, true],
    )
  })
})
