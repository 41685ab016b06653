import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRedact } from '@penstock/connector'
import { limits } from '@penstock/wire'
import { shownBody, shownHeaders } from './shown-answer.ts'

const none = (text: string) => text
const secret = '4111222233334444'
const redactSecret = createRedact([secret])
const redact = (text: string) => redactSecret(text, 2_000)

describe('an answer as a person sees it', () => {
  test('keeps all digits and the order', () => {
    const text = '{"b":12345678901234567890,"a":1.10,"c":[null,true,"é"]}'
    assert.deepEqual(shownBody(text, none), { text, json: true, entriesMax: null })
  })

  test('has no secret in texts, names and numbers, and stays JSON', () => {
    const { text, json } = shownBody(JSON.stringify({ [secret]: 1, a: [`is ${secret}`], n: Number(secret) }), redact)
    assert.ok(json)
    assert.doesNotMatch(text, /33334444/)
    assert.deepEqual(JSON.parse(text), { '[redacted]': 1, a: ['is [redacted]'], n: '[redacted]' })
  })

  test('is bounded, with fewer entries of its lists', () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, note: 'x'.repeat(100) }))
    const { text, json, entriesMax } = shownBody(JSON.stringify({ rows }), none)
    assert.ok(json && entriesMax !== null && Buffer.byteLength(text) <= limits.answerBytesMax)
    assert.equal((JSON.parse(text) as { rows: unknown[] }).rows.length, entriesMax)
    const one = shownBody(JSON.stringify({ note: 'y'.repeat(400_000) }), none)
    assert.ok(one.json && one.text.length < 1_100)
  })

  test('is the beginning of a text if it is not JSON, and deep JSON is no error', () => {
    const page = shownBody(`<html>${secret}${'z'.repeat(10_000)}`, redact)
    assert.equal(page.json, false)
    assert.ok(page.text.startsWith('<html>[redacted]zz') && page.text.length <= 2_001)
    assert.ok(shownBody('['.repeat(200_000) + ']'.repeat(200_000), none).text.length < 3_000)
    assert.equal(shownBody('', none).text, '')
  })

  test('has headers without credentials', () => {
    const headers = new Headers({ 'set-cookie': 'a=b', 'x-api-key': 'c', link: `<https://a.example/?k=${secret}>` })
    assert.deepEqual(shownHeaders(headers, redact), [
      { name: 'link', value: '<https://a.example/?k=[redacted]>' },
      { name: 'set-cookie', value: '[redacted]' },
      { name: 'x-api-key', value: '[redacted]' },
    ])
  })
})
