import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { ConnectorError, type Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import fc from '../../../../../test/harness/property.ts'
import { httpApi } from '../http-api.ts'

/** An API that repeats the credentials of its requests, in any form: no expression of a definition brings them back. */

/** Makes the answer of a request. */
let echo: (request: http.IncomingMessage, body: string) => { json: unknown; headers?: Record<string, string> }
const server = http.createServer(async (request, response) => {
  let text = ''
  for await (const piece of request) text += piece
  const { json, headers } = echo(request, text)
  response.writeHead(200, { 'content-type': 'application/json', ...headers })
  response.end(typeof json === 'string' ? json : JSON.stringify(json))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => server.close())
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** All that reading a stream gives to people: rows, checkpoints and errors. */
async function readAll(stream: object, secrets: Values): Promise<string> {
  const definition = JSON.stringify({ streams: { echo: { path: '/echo', ...stream } } })
  const given = { url: origin, definition, ...secrets }
  const context = testContext({ secrets: given, settings: { stream: 'echo' } })
  const found: unknown[] = []
  try {
    const reader = await httpApi.source?.open?.(context)
    assert(reader)
    for await (const { columns, rows, checkpoint } of reader.read(undefined)) found.push(columns, rows, checkpoint)
    await reader.close()
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    found.push(error.message)
  }
  return JSON.stringify(found)
}

const encodings: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  'upper case': (secret) => secret.toUpperCase(),
  base64: (secret) => btoa(secret),
  'base64 for URLs': (secret) => Buffer.from(secret).toString('base64url'),
  'a pair in base64': (secret) => btoa(`reader:${secret}`),
  hexadecimal: (secret) => Buffer.from(secret).toString('hex'),
  'upper hexadecimal': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'percent-encoded': (secret) => encodeURIComponent(secret),
  'a form': (secret) => new URLSearchParams({ p: secret }).toString(),
  JSON: (secret) => JSON.stringify({ deep: [secret] }),
  'within words': (secret) => `the key ${secret} is wrong`,
}

/** Every second character is a hyphen, so that nothing of the secret is left to be recognised. */
const apart = (expression: string) => `${expression}.split("").map(c, c + "-").join("")`
const spread = (text: string) => [...text].map((character) => `${character}-`).join('')

const secretOf = fc.string({ unit: fc.constantFrom(...'abcdefgXYZ0123456789+/=&%"\\<_-'), minLength: 8, maxLength: 40 })

test('a secret in an answer is gone before an expression sees it, in every encoding', async () => {
  await fc.assert(
    fc.asyncProperty(secretOf, fc.constantFrom(...Object.keys(encodings)), async (secret, name) => {
      const said = encodings[name]?.(secret) ?? ''
      echo = () => ({ json: { items: [{ said, [said]: 1 }], said }, headers: { 'x-said': encodeURIComponent(said) } })
      const stream = {
        records: 'items',
        changes: [
          { set: 'apart', to: apart('record.said') },
          { set: 'base', to: 'base64(record.said)' },
          { set: 'length', to: `size(record.said) == ${said.length}` },
          { set: 'guess', to: `startsWith(record.said, ${JSON.stringify(said.slice(0, 8))})` },
          { set: 'keys', to: apart('json(keys(record))') },
        ],
      }
      const secrets = { authentication: 'API key', apiToken: secret }
      const found = await readAll(stream, secrets)
      const inner = encodings[name]?.(secret) ?? ''
      for (const form of [inner, spread(inner), btoa(inner)])
        assert(!found.includes(JSON.stringify(form).slice(1, -1)), `${name} of ${secret}: ${found}`)
      if (!name.startsWith('within') && name !== 'JSON' && name !== 'a form' && name !== 'a pair in base64') {
        const rows = JSON.parse(found)[1][0] as unknown[]
        assert.match(String(rows[0]), /^.?\[redacted\]=*.?$/, found)
      }
    }),
    { numRuns: 60 },
  )
})

const basic = { authentication: 'user name and password', username: 'reader', password: 'canary-of-a-password' }
const spreadCanary = /c-a-n-a-r-y|canary-of/

test('the header of a request that an answer repeats is no value of a row, a partition, a cursor or an error', async () => {
  echo = ({ headers }) => ({ json: [{ sent: headers.authorization, id: 1 }] })
  const sent = `Basic ${btoa('reader:canary-of-a-password')}`
  const rows = await readAll({ changes: [{ set: 'apart', to: apart('record.sent') }] }, basic)
  assert(rows.includes('[redacted]'), rows)
  assert(!rows.includes(spread(sent.slice(6, 20))), rows)

  let asked: string[] = []
  echo = ({ url = '', headers }) => {
    asked.push(url)
    return { json: { items: [{ id: 1 }], next: asked.length < 3 ? `p${asked.length}${headers.authorization}` : null } }
  }
  const next = { by: 'cursor', parameter: 'at', next: 'response.next == null ? null : base64(response.next)' }
  await readAll({ records: 'items', pages: next }, basic)
  assert(asked.length > 1)
  assert(!asked.join().includes(encodeURIComponent(btoa(`p1${sent}`))), asked.join())

  asked = []
  const definition = {
    streams: {
      echo: { path: '/echo/{{ base64(partition) }}', partitions: { stream: 'all', field: 'sent' } },
      all: { path: '/all' },
    },
  }
  echo = ({ url = '', headers }) => {
    asked.push(url)
    return { json: [{ sent: headers.authorization }] }
  }
  const found = await readAll({}, { ...basic, definition: JSON.stringify(definition) })
  assert(!found.includes('canary') && !asked.join().includes(encodeURIComponent(btoa(sent))), asked.join())
})

test('a token that a login gives, and a cookie, are secrets, too', async () => {
  const token = 'canary-of-a-session'
  echo = ({ url, headers }) => {
    if (url === '/login') return { json: { token } }
    const set = { 'set-cookie': 'sid=canary-of-a-cookie' }
    return { json: { items: [{ sent: headers['x-api-key'] }], said: headers['x-api-key'] }, headers: set }
  }
  const login = {
    authentication: 'session token',
    username: 'reader',
    password: 'canary-of-a-password',
    loginUrl: `${origin}/login`,
  }
  const changes = [{ set: 'apart', to: apart('record.sent') }]
  const rows = await readAll({ records: 'items', changes }, login)
  assert.match(rows, /\[redacted\]/)
  assert.doesNotMatch(rows, spreadCanary)
  const asked: string[] = []
  const before = echo
  echo = (request, body) => {
    asked.push(request.url ?? '')
    return before(request, body)
  }
  await readAll({ records: 'items', pages: { by: 'cursor', parameter: 'at', header: 'set-cookie' } }, login)
  assert.equal(asked.length, 2, asked.join())
})

test('an access token is a secret, and a number that is one', async () => {
  echo = ({ url, headers }) =>
    url === '/token'
      ? { json: { access_token: 'canary-of-a-token', token_type: 'bearer', expires_in: 3600 } }
      : { json: [{ sent: headers.authorization?.slice(7) }] }
  const oauth = {
    authentication: 'client credentials',
    tokenUrl: `${origin}/token`,
    clientId: 'a',
    clientSecret: '87654321',
  }
  const changes = [{ set: 'apart', to: apart('record.sent') }]
  assert.doesNotMatch(await readAll({ changes }, oauth), spreadCanary)
  echo = ({ url }) =>
    url === '/token'
      ? { json: { access_token: 'canary-of-a-token' } }
      : { json: '[{"a":87654321,"b":"\\u0038\\u00376\\u00354321"}]' }
  const rows = await readAll({ changes: [{ set: 'c', to: apart('string(record.a)') }] }, oauth)
  assert(!rows.includes('87654321') && !rows.includes(spread('87654321')), rows)
})

test('no expression can name a secret or a setting', () => {
  const definition = httpApi.secrets.definition
  for (const name of [
    'apiToken',
    'secrets.apiToken',
    'config.apiToken',
    'authentication',
    'env.PENSTOCK_MASTER_KEY',
    'credentials',
  ])
    for (const stream of [
      { query: { a: `{{ ${name} }}` } },
      { changes: [{ set: 'a', to: name }] },
      { errors: [{ when: `${name} == "x"`, action: 'fail' }] },
    ]) {
      const text = JSON.stringify({ streams: { echo: { path: '/echo', ...stream } } })
      assert.match(definition?.wrong?.(text) ?? '', /not known|no such|unknown|knows/i, `${name}: ${text}`)
    }
})
