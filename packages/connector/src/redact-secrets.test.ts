import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from '../../../test/harness/property.ts'
import { secret, text } from './fields.ts'
import { createRedact, redactedText, secretsOf } from './redact-secrets.ts'

const password = `p&s"w'ö\\rd/<42> +x`
const redact = createRedact([password])

describe('secrets are removed from the text of another system', () => {
  const forms: [name: string, form: string][] = [
    ['as it is', password],
    ['in another case', password.toUpperCase().replace('Ö', 'ö')],
    ['percent-encoded', encodeURIComponent(password)],
    ['percent-encoded in lower case', encodeURIComponent(password).toLowerCase()],
    ['percent-encoded in full', [...Buffer.from(password)].map((byte) => `%${byte.toString(16)}`).join('')],
    ['as a form', new URLSearchParams({ p: password }).toString().slice(2)],
    ['in Base64', Buffer.from(password).toString('base64')],
    ['in Base64 for URLs', Buffer.from(password).toString('base64url')],
    ['in hexadecimal', Buffer.from(password).toString('hex')],
    ['in upper hexadecimal', Buffer.from(password).toString('hex').toUpperCase()],
    ['in JSON', JSON.stringify(password)],
    ['in JSON inside JSON', JSON.stringify(JSON.stringify(password).slice(1, -1)).slice(1, -1)],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(password))],
    ['in JSON of ASCII', JSON.stringify(password).replace('ö', '\\u00f6')],
    ['in SQL', password.replaceAll("'", "''")],
    ['in SQL with backslashes', password.replaceAll('\\', '\\\\').replaceAll("'", "''")],
    ['in XML', password.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')],
  ]
  for (const [name, form] of forms) {
    test(name, () => {
      const redacted = redact(`relation "${form}" does not exist`)
      assert.match(redacted, /^relation ".{0,2}\[redacted\]=*.{0,2}" does not exist$/)
    })
  }

  test('in Base64 inside a longer text, whatever comes before it', () => {
    for (const user of ['a', 'ab', 'abc', 'someone']) {
      const redacted = redact(`Basic ${Buffer.from(`${user}:${password}:more`).toString('base64')}`)
      assert.ok(redacted.includes(redactedText), redacted)
      const left = redacted.replace('Basic ', '').replace(redactedText, '')
      assert.ok(!Buffer.from(left, 'base64').toString().includes(password.slice(2, 8)), redacted)
    }
  })

  test('where it was shortened, and where lines were broken in it', () => {
    const long = 'a-long-secret-of-more-than-63-characters-that-a-database-takes-for-a-name'
    const redacted = createRedact([long])(`relation "${long.slice(0, 63)}" does not exist`)
    assert.equal(redacted, `relation "${redactedText}" does not exist`)
    const pem = `-----BEGIN PRIVATE KEY-----\n${'QUJDREVG'.repeat(8)}\n${'R0hJSktM'.repeat(8)}\n-----END PRIVATE KEY-----`
    const line = createRedact([pem])(`bad line ${'R0hJSktM'.repeat(8)} in the key`)
    assert.equal(line, `bad line ${redactedText} in the key`)
  })

  test('of a JSON document: its secret members, and not the names that a message needs', () => {
    const key = JSON.stringify({
      type: 'service_account',
      project_id: 'my-project',
      private_key_id: '0123456789abcdef',
    })
    const redacted = createRedact([key])('service_account of my-project: key 0123456789abcdef is unknown')
    assert.equal(redacted, `service_account of my-project: key ${redactedText} is unknown`)
  })

  test('of an address: what it asks with, and not where it leads', () => {
    const sas = 'https://acme.blob.core.windows.net/container?sv=2024&sig=k9QpZ7wX4vT8rPm2%2BLc6%3D'
    const redactSas = createRedact([sas])
    assert.equal(redactSas('acme.blob.core.windows.net answers.'), 'acme.blob.core.windows.net answers.')
    assert.equal(redactSas('sig k9QpZ7wX4vT8rPm2+Lc6= is wrong'), `sig ${redactedText} is wrong`)
    assert.ok(!redactSas(`${sas} is wrong`).includes('k9QpZ7'))
  })

  test('a short one as a whole word only', () => {
    const short = createRedact(['at'])
    assert.equal(
      short('syntax error at or near "AT", at attachment'),
      'syntax error [redacted] or near "[redacted]", [redacted] attachment',
    )
  })

  test('before the text is cut, whatever its length', () => {
    const redacted = redact(`${'x'.repeat(290)}${password}`)
    assert.ok(redacted.length <= 300)
    assert.ok(!redacted.includes(password.slice(0, 3)))
    assert.ok(!redact('x'.repeat(65_530) + password, 70_000).includes(password.slice(0, 4)))
  })

  test('and the rest stays, on one line', () => {
    assert.equal(redact('no\n such\u0000\u001b[31m  table\u2028here '), 'no such [31m table here')
    assert.equal(redact(''), '')
    assert.equal(createRedact([])('anything'), 'anything')
    assert.equal(createRedact(['', ' '])('anything'), 'anything')
  })

  test('any secret in any text', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 6, maxLength: 40, unit: 'grapheme' }),
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme' }),
        (value, before, after) => {
          fc.pre(value.trim().length >= 6 && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]/u.test(value) && !value.startsWith('{'))
          const redacted = createRedact([value])(`${before} ${value} ${after}`, 10_000)
          assert.ok(!redacted.includes(value) || redactedText.includes(value))
        },
      ),
      { numRuns: 500 },
    )
  })
})

test('the secrets of a configuration are the values of its secret fields', () => {
  const fields = {
    host: text({ label: 'Host', description: 'Where' }),
    password: secret({ label: 'Password', description: 'What' }),
    token: secret({ label: 'Token', description: 'What' }),
  }
  assert.deepEqual(secretsOf(fields, { host: 'h', password: 'p', token: '' }), ['p'])
})
