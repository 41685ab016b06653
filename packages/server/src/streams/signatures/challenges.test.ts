import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { signatureSchemeIds } from '@penstock/connectors'
import { type ChallengeRequest, challengeOf } from './challenges.ts'
import { checkSignature } from './check-signature.ts'

const nowMs = Date.UTC(2026, 10, 30)
const seconds = String(nowMs / 1000)
const secret = 'client-secret'
const address = 'https://hooks.example.com/in/abc'

const request = (method: string, query: string, body = '', headers = {}): ChallengeRequest => ({
  method,
  url: address + query,
  headers,
  body: Buffer.from(body),
  secrets: [secret],
  nowMs,
})
const get = (query: string) => request('GET', query)
const hmac = (text: string) => createHmac('sha256', secret).update(text)

test('Meta repeats the challenge if the verify token is right', () => {
  const query = '?write=1&hub.mode=subscribe&hub.verify_token=chosen%20by%20me&hub.challenge=1158201444'
  const ask = (verifyToken: string | undefined, given = query) => challengeOf('meta', { ...get(given), verifyToken })
  assert.deepEqual(ask('chosen by me'), {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: '1158201444',
  })
  for (const wrong of ['chosen by you', '', undefined]) {
    const answer = ask(wrong)
    assert.equal(answer?.status, 403)
    assert(!answer.body.includes('1158201444') && !answer.body.includes('chosen'))
  }
  assert.equal(ask('chosen by me', query.replace('1158201444', '%3Cscript%3E')), undefined)
  assert.equal(ask('chosen by me', query.replace('subscribe', 'other')), undefined)
})

test('LinkedIn and X get their code signed, and nothing that could be a webhook', () => {
  const code = '890e4665-4dfe-4ab1-b689-ed553bceeed0'
  const linkedin = challengeOf('linkedin', get(`?challengeCode=${code}&applicationId=1`))
  assert.deepEqual(JSON.parse(linkedin?.body ?? ''), {
    challengeCode: code,
    challengeResponse: hmac(code).digest('hex'),
  })
  const x = challengeOf('x', get('?crc_token=tok-3n_42%3D'))
  assert.deepEqual(JSON.parse(x?.body ?? ''), { response_token: `sha256=${hmac('tok-3n_42=').digest('base64')}` })
  for (const text of ['{"lead":1}', '[]', 'hmacsha256={"lead":1}', '', 'a'.repeat(400)]) {
    assert.equal(challengeOf('linkedin', get(`?challengeCode=${encodeURIComponent(text)}`)), undefined)
    assert.equal(challengeOf('x', get(`?crc_token=${encodeURIComponent(text)}`)), undefined)
  }
  assert.equal(challengeOf('x', { ...get('?crc_token=t'), secrets: [] }), undefined)
  assert.equal(challengeOf('linkedin', { ...get(`?challengeCode=${code}`), secrets: [] }), undefined)
})

test('Slack and Zoom are answered only if they signed the handshake', () => {
  const slackBody = '{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}'
  const slack = (signed: string) =>
    challengeOf(
      'slack',
      request('POST', '', slackBody, {
        'x-slack-request-timestamp': seconds,
        'x-slack-signature': `v0=${hmac(`v0:${seconds}:${signed}`).digest('hex')}`,
      }),
    )
  assert.equal(slack(slackBody)?.body, '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P')
  assert.equal(slack('{}'), undefined)

  const zoomBody = '{"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event":"endpoint.url_validation"}'
  const zoom = (signed: string) =>
    challengeOf('zoom', {
      ...request('POST', '', zoomBody, {
        'x-zm-request-timestamp': seconds,
        'x-zm-signature': `v0=${hmac(`v0:${seconds}:${signed}`).digest('hex')}`,
      }),
      secrets: ['another secret', secret],
    })
  const plainToken = 'qgg8vlvZRS6UYooatFL8Aw'
  assert.deepEqual(JSON.parse(zoom(zoomBody)?.body ?? ''), {
    plainToken,
    encryptedToken: hmac(plainToken).digest('hex'),
  })
  assert.equal(zoom('{}'), undefined)
})

test('Discord, GitHub and Intercom are answered only if they signed the ping', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')
  const discord = (signed: string) =>
    challengeOf('discord', {
      ...request('POST', '', '{"type":1}', {
        'x-signature-timestamp': seconds,
        'x-signature-ed25519': sign(undefined, Buffer.from(seconds + signed), privateKey).toString('hex'),
      }),
      secrets: [key],
    })
  assert.equal(discord('{"type":1}')?.body, '{"type":1}')
  assert.equal(discord('{"type":2}'), undefined)

  const github = (body: string, event: string) =>
    challengeOf(
      'github',
      request('POST', '', '{"zen":"x"}', {
        'x-github-event': event,
        'x-hub-signature-256': `sha256=${hmac(body).digest('hex')}`,
      }),
    )
  assert.equal(github('{"zen":"x"}', 'ping')?.status, 200)
  assert.equal(github('{}', 'ping'), undefined)
  assert.equal(github('{"zen":"x"}', 'push'), undefined)

  const intercom = (body: string) =>
    challengeOf(
      'intercom',
      request('POST', '', body, {
        'x-hub-signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
      }),
    )
  assert.equal(intercom('{"topic":"ping"}')?.status, 200)
  assert.equal(intercom('{"topic":"contact.created"}'), undefined)
})

test('Dropbox, Mandrill, Intercom and WooCommerce ask without a secret', () => {
  assert.equal(challengeOf('dropbox', get('?challenge=abc_1-2'))?.body, 'abc_1-2')
  assert.equal(challengeOf('dropbox', get('?challenge=%3Cb%3E')), undefined)
  assert.equal(challengeOf('mandrill', request('HEAD', ''))?.status, 200)
  assert.equal(challengeOf('intercom', request('HEAD', ''))?.status, 200)
  assert.equal(challengeOf('woocommerce', request('POST', '', 'webhook_id=17'))?.status, 200)
  assert.equal(challengeOf('woocommerce', request('POST', '', '{"id":17}')), undefined)
})

test('no other scheme has a handshake, and none throws', () => {
  const bodies = ['', '{', 'null', '[]', '{"type":1}', '{"payload":null,"event":"endpoint.url_validation"}']
  for (const scheme of signatureSchemeIds) {
    for (const body of bodies) {
      const post = request('POST', '?%', body, { 'x-github-event': 'ping' })
      assert.equal(challengeOf(scheme, post), undefined, `${scheme} ${body}`)
      assert.equal(checkSignature(scheme, post).isValid, false)
    }
    assert.equal(challengeOf(scheme, get('')), undefined)
  }
})
