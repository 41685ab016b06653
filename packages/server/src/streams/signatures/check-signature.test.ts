import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { type SignatureScheme, signatureSchemeIds, signatureSchemes } from '@penstock/connectors'
import { type SentMessage, webhookSenders } from '../../../../../test/harness/webhook-senders.ts'
import { checkSignature, secretProblem } from './check-signature.ts'
import { eventIdOf } from './message-ids.ts'
import type { SignedRequest } from './signed-request.ts'

const nowMs = Date.UTC(2026, 10, 30, 12)
const url = 'https://hooks.example.com/in/abc?key=1&to=a%3Ab'

/** A request as the receiver sees it. */
const received = (
  sent: SentMessage,
  secrets: readonly string[],
  change: Partial<SignedRequest> = {},
): SignedRequest => ({
  method: sent.method,
  url: sent.url,
  headers: sent.headers,
  body: Buffer.from(sent.body),
  secrets,
  nowMs,
  ...change,
})

function refused(scheme: SignatureScheme, request: SignedRequest): string {
  const result = checkSignature(scheme, request)
  assert.equal(result.isValid, false, `${scheme} is accepted`)
  const reason = 'reason' in result ? result.reason : ''
  assert.match(reason, /^[A-Z`].*\.$/)
  for (const secret of request.secrets) assert(secret === '' || !reason.includes(secret), reason)
  return reason
}

for (const scheme of signatureSchemeIds) {
  const sender = webhookSenders[scheme]
  const [secret, before] = sender.secrets
  const sent = sender.send({ id: 'message-1', timeMs: nowMs, url })
  const good = received(sent, [secret])

  test(`${scheme}: a signed request is valid, with each of two secrets`, () => {
    assert(checkSignature(scheme, good).isValid)
    assert(checkSignature(scheme, received(sent, [before, secret])).isValid)
    const signedBefore = received(sender.send({ id: 'message-1', timeMs: nowMs, url }, 1), [secret, before])
    assert(checkSignature(scheme, signedBefore).isValid)
  })

  test(`${scheme}: altered, missing and malformed signatures are refused`, () => {
    assert.match(refused(scheme, received(sent, [before])), /does not match/)
    assert.match(refused(scheme, received(sent, [])), /No secret is set/)
    refused(scheme, received(sent, ['']))
    const altered = received(sent, [secret], { body: Buffer.from(sent.body.replace('message-1', 'message-2')) })
    if (sender.coversBody && sent.body.includes('message-1')) refused(scheme, altered)
    const spaced = received(sent, [secret], { body: Buffer.from(`${sent.body} `) })
    // Adyen signs values of the body, not its text.
    if (sender.coversBody && scheme !== 'adyen') refused(scheme, spaced)
    if (sender.coversBody) refused(scheme, received(sent, [secret], { body: Buffer.alloc(0) }))
    if (sender.header === undefined) return
    const { [sender.header]: written = '', ...others } = sent.headers
    assert.match(refused(scheme, received(sent, [secret], { headers: others })), /is missing/)
    for (const value of malformed(written)) {
      refused(scheme, received(sent, [secret], { headers: { ...others, [sender.header]: value } }))
    }
    refused(scheme, received(sent, [secret], { headers: { ...others, [sender.header]: [written, written] as never } }))
  })

  test(`${scheme}: every header that the signature covers counts`, () => {
    const facts = signatureSchemes[scheme]
    const covered = [
      facts.time?.header,
      /\{id\}/.test(facts.signed ?? '') && facts.id && 'header' in facts.id && facts.id.header,
    ]
    for (const name of covered) {
      if (!name) continue
      const { [name]: value = '', ...others } = sent.headers
      assert.match(refused(scheme, received(sent, [secret], { headers: others })), /is missing/)
      const later = `${value}`.replace(/(\d)(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10))
      assert.notEqual(later, value)
      refused(scheme, received(sent, [secret], { headers: { ...others, [name]: later } }))
      refused(scheme, received(sent, [secret], { headers: { ...others, [name]: '\u0000 not a time' } }))
    }
  })

  test(`${scheme}: a time that is too far from now is refused, in both directions`, () => {
    assert.equal(sender.lateMs, signatureSchemes[scheme].time?.toleranceMs)
    if (sender.lateMs === undefined) return
    const { lateMs } = sender
    for (const distance of [lateMs - 1000, 1000 - lateMs]) {
      assert(checkSignature(scheme, received(sent, [secret], { nowMs: nowMs + distance })).isValid)
    }
    assert.match(refused(scheme, received(sent, [secret], { nowMs: nowMs + lateMs + 1000 })), /before the current time/)
    assert.match(refused(scheme, received(sent, [secret], { nowMs: nowMs - lateMs - 1000 })), /after the current time/)
  })

  test(`${scheme}: a repeated message has the same ID, and another message another one`, () => {
    const idOf = (id: string, timeMs: number) => {
      const message = sender.send({ id, timeMs, url })
      const result = checkSignature(scheme, received(message, [secret], { nowMs: timeMs }))
      assert(result.isValid)
      const [event] = message.body.startsWith('[') ? JSON.parse(message.body) : []
      return result.messageId ?? eventIdOf(scheme, event)
    }
    const first = idOf('message-1', nowMs)
    assert.equal(idOf('message-1', nowMs + 60_000), first)
    if (!signatureSchemes[scheme].id) assert.equal(first, undefined)
    else assert.match(`${first}`, /message-1|^1\/2\/3\/4$/)
    const long = idOf('m'.repeat(3000), nowMs)
    assert(long === undefined || long.length <= 200)
    if (first?.includes('message-1')) assert.notEqual(idOf('message-2', nowMs), first)
  })

  test(`${scheme}: nothing that a client sends makes it throw`, () => {
    const bodies = [
      '',
      '{',
      '[',
      '[]',
      '[1]',
      'null',
      '{"notificationItems":[{}]}',
      '{"notificationItems":[null]}',
      '\xff\x00',
      '[[[[',
    ]
    const names = [sender.header, signatureSchemes[scheme].time?.header].filter((name) => name !== undefined)
    for (const body of bodies) {
      for (const value of malformed('t=1,v1=00')) {
        const headers = { ...sent.headers, ...Object.fromEntries(names.map((name) => [name, value])) }
        const request = received(sent, [secret], { headers, body: Buffer.from(body, 'latin1'), url: value })
        if (sender.header !== undefined || body !== sent.body) refused(scheme, request)
      }
    }
  })

  test(`${scheme}: a secret in another form is named, and not repeated`, () => {
    assert.equal(secretProblem(scheme, secret), undefined)
    assert.match(secretProblem(scheme, '') ?? '', /^(?:The secret is not valid for|.* requires a secret)/)
    if (signatureSchemes[scheme].secretEncoding === undefined) return
    assert.match(secretProblem(scheme, 'ü not a key ü') ?? '', /^The secret is not valid for [^ü]*\. Expected [^ü]*\.$/)
    assert.match(refused(scheme, received(sent, ['ü not a key ü'])), /The secret is not valid/)
  })
}

/** Values of a header that are no valid signature. */
function malformed(signature: string): string[] {
  const flipped = signature.replace(/[0-9a-zA-Z](?=[^0-9a-zA-Z]*$)/, (last) => (last === 'A' ? 'B' : 'A'))
  const tail = signature.slice(0, -4)
  return [tail, 'garbage', '=', ',', '  ', 't=,v1=', 'v1,', `${'v1=00,'.repeat(2000)}`, 'ü', '%', flipped.slice(0, 6)]
}

test('a signature of every event of Adyen must be valid', () => {
  const { send, secrets } = webhookSenders.adyen
  const [one, two] = ['p1', 'p2'].map((id) => JSON.parse(send({ id, timeMs: nowMs, url }).body).notificationItems[0])
  const request = (items: unknown[]) =>
    received(send({ id: 'p1', timeMs: nowMs, url }), [secrets[0]], {
      body: Buffer.from(JSON.stringify({ notificationItems: items })),
    })
  assert.deepEqual(checkSignature('adyen', request([one, two])), { isValid: true })
  two.NotificationRequestItem.amount.value = 1
  refused('adyen', request([one, two]))
  refused('adyen', request([]))
})

test('Segment signs the first event of a batch', () => {
  const { send, secrets } = webhookSenders.segment
  const sent = send({ id: 'm1', timeMs: nowMs, url })
  const batch = received(sent, [secrets[0]], { body: Buffer.from(`[${sent.body},{"messageId":"m2"}]`) })
  assert.deepEqual(checkSignature('segment', batch), { isValid: true })
  refused('segment', received(sent, [secrets[0]], { body: Buffer.from(`[{"messageId":"m2"},${sent.body}]`) }))
})

test('Twilio: an address with a port, repeated parameters, JSON by its digest, and SHA-256', () => {
  const [secret] = webhookSenders.twilio.secrets
  const signed = (text: string, algorithm = 'sha1') => createHmac(algorithm, secret).update(text).digest('base64')
  const check = (address: string, body: string, signature: string) =>
    checkSignature('twilio', {
      method: 'POST',
      url: address,
      headers: { 'x-twilio-signature': signature },
      body: Buffer.from(body),
      secrets: [secret],
      nowMs,
    }).isValid
  assert(check('https://a.example/x', '', signed('https://a.example:443/x')))
  assert(check('https://a.example:8443/x?y', '', signed('https://a.example/x?y')))
  assert(check('http://[::1]:80/x', '', signed('http://[::1]/x')))
  assert(check('https://a.example/', 'b=2&a=z&a=y&a=z', signed('https://a.example/ayazb2')))
  assert(check('https://a.example/', 'a=1', signed('https://a.example/a1', 'sha256')))
  const json = '{"a":1}'
  const address = `https://a.example/?bodySHA256=${createHash('sha256').update(json).digest('hex')}`
  assert(check(address, json, signed(address)))
  assert(!check(address, '{"a":2}', signed(address)))
  assert(!check('https://a.example/', json, signed('https://a.example/')))
})

test('a large form with many names is refused, and not sorted', () => {
  const [secret] = webhookSenders.twilio.secrets
  const request = (count: number) => {
    const body = Array.from({ length: count }, (_, index) => `n${String(index).padStart(6, '0')}=`).join('&')
    const text = url + body.replaceAll(/[=&]/g, '')
    const signature = createHmac('sha1', secret).update(text).digest('base64')
    return received({ method: 'POST', url, headers: { 'x-twilio-signature': signature }, body }, [secret])
  }
  assert(checkSignature('twilio', request(2_000)).isValid)
  refused('twilio', request(200_000))
})

test('an ID of 64 bits is exact, and a list with several events has no ID', () => {
  const { send, secrets } = webhookSenders.meta
  const idOf = (body: string) => {
    const signature = createHmac('sha256', secrets[0]).update(body).digest('hex')
    const headers = { 'x-hub-signature-256': `sha256=${signature}` }
    const result = checkSignature(
      'meta',
      received(send({ id: '', timeMs: nowMs, url }), [secrets[0]], { headers, body: Buffer.from(body) }),
    )
    assert(result.isValid)
    return result.messageId
  }
  const change = (id: string) => `{"value":{"leadgen_id":${id}}}`
  assert.equal(idOf(`{"entry":[{"changes":[${change('9007199254740993')}]}]}`), '9007199254740993')
  assert.equal(idOf(`{"entry":[{"changes":[${change('1')},${change('2')}]}]}`), undefined)
  assert.equal(eventIdOf('segment', { messageId: 2 ** 53 }), undefined)
})

test('Klaviyo writes times as HTTP dates or in ISO 8601, in UTC', () => {
  const [secret] = webhookSenders.klaviyo.secrets
  const check = (time: string) =>
    checkSignature('klaviyo', {
      method: 'POST',
      url,
      headers: {
        'klaviyo-timestamp': time,
        'klaviyo-signature': createHmac('sha256', secret).update(`{}${time}`).digest('hex'),
      },
      body: Buffer.from('{}'),
      secrets: [secret],
      nowMs,
    }).isValid
  for (const time of [
    '2026-11-30T12:00:00',
    '2026-11-30T12:00:00Z',
    'Mon, 30 Nov 2026 12:00:00 GMT',
    String(nowMs / 1000),
  ]) {
    assert(check(time), time)
  }
  for (const time of ['2026-11-28T12:00:00', '2026', 'tomorrow', '99999999999999']) assert(!check(time), time)
})

test('the examples that senders publish are valid', () => {
  const check = (
    scheme: SignatureScheme,
    secret: string,
    body: string,
    headers: Record<string, string>,
    atMs = nowMs,
  ) => checkSignature(scheme, { method: 'POST', url, headers, body: Buffer.from(body), secrets: [secret], nowMs: atMs })
  assert.deepEqual(
    check('github', "It's a Secret to Everybody", 'Hello, World!', {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    }),
    { isValid: true },
  )
  assert.deepEqual(
    check(
      'standard-webhooks',
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      '{"test": 2432232314}',
      {
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
      1614265330_000,
    ),
    { isValid: true, messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek' },
  )
  const slackBody = [
    'token=xyzz0WbapA4vBCDEFasx0q6G',
    'team_id=T1DC2JH3J',
    'team_domain=testteamnow',
    'channel_id=G8PSS9T3V',
    'channel_name=foobar',
    'user_id=U2CERLKJA',
    'user_name=roadrunner',
    'command=%2Fwebhook-collect',
    'text=',
    'response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN',
    'trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  ].join('&')
  assert.deepEqual(
    check(
      'slack',
      '8f742231b10e8888abcd99yyyzzz85a5',
      slackBody,
      {
        'x-slack-request-timestamp': '1531420618',
        'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      },
      1531420618_000,
    ),
    { isValid: true },
  )
})
