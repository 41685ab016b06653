import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExpressionError, evaluate, namesIn, type Scope } from './json.ts'
import { durationMs, formatMs, formOfStrftime, timeMs } from './times.ts'

const nowMs = Date.parse('2026-11-26T10:00:00Z')
const scope: Scope = {
  response: { next: '', 'a b': { c: [{ rel: 'self' }, { rel: 'next', href: '/x' }] }, n: 3, big: 'x'.repeat(90_000) },
  headers: new Headers({ 'X-Next': 'p2' }),
  record: { id: 7, name: 'Ann', at: '2026-01-31T12:00:00+02:00', empty: null, tags: ['a', 'b'] },
  partition: 'de',
}
const values: Readonly<Record<string, unknown>> = {
  'partition + "-" + record.id': 'de-7',
  'response["a b"].c[-1].href': '/x',
  'response["a b"].c.filter(item, item.rel == "next").map(item, item.href)[0]': '/x',
  'record.missing.deeper': null,
  'record.id + 1': 8,
  'record.id / 0': null,
  'number("x") + 1': '1',
  '!response.next && response.n > 2': true,
  'either(response.next, record.empty, "last")': 'last',
  'coalesce(record.empty, 0)': 0,
  'headers["x-next"]': 'p2',
  '"X-Next" in headers && "id" in record && "b" in record.tags && "nn" in record.name': true,
  'record.tags.exists(tag, tag == "b") ? join(record.tags, "|") : "none"': 'a|b',
  'time(record.at)': '2026-01-31T10:00:00Z',
  'addTime(now(), "-P30D")': '2026-10-27T10:00:00Z',
  'formatTime(record.at, "dd.MM.yyyy HH:mm:ss.SSS")': '31.01.2026 10:00:00.000',
  'seconds("2026-01-01")': 1_767_225_600,
  'max("2026-01-02", "2026-01-10")': '2026-01-10',
  'split(split("/v1?cursor=a%20b&n=1", "cursor=")[1], "&")[0]': 'a%20b',
  'json({"a": [1, partition]})': '{"a":[1,"de"]}',
  'md5("a") + base64("a:b")': '0cc175b9c0f1b6a831c399e269772661YTpi',
}
for (const [text, value] of Object.entries(values)) {
  test(`The value of ${text}`, () => assert.deepEqual(evaluate(text, scope, nowMs), value))
}

test('Keys of answers that objects have themselves are no values', () => {
  for (const text of ['record.constructor', 'record["__proto__"]', 'record.toString', 'response.next.length']) {
    assert.equal(evaluate(text, scope, nowMs), null)
  }
})

test('An expression that is not valid, calls anything, or takes too much is refused', () => {
  for (const text of ['1 +', 'x.?y', 'fetch("a")', 'record.map(1, 2)', 'constructor()', `${'('.repeat(200)}1`]) {
    assert.throws(() => namesIn(text), ExpressionError, text)
  }
  const list = `[${Array.from({ length: 40 }, (_, index) => index).join(',')}]`
  const nested = `${list}.map(a, ${list}.map(b, ${list}.map(c, ${list}.map(d, a + b))))`
  const double = 'response.big + response.big'
  for (const text of [nested, double, `replace(response.big, "x", response.big)`]) {
    assert.throws(() => evaluate(text, scope, nowMs), ExpressionError, text)
  }
})

test('Times and durations are read in the forms of APIs', () => {
  const noon = Date.parse('2026-01-31T12:00:00Z')
  for (const text of [
    '2026-01-31 12:00:00',
    '2026-01-31T13:00:00+0100',
    'Sat, 31 Jan 2026 12:00:00 GMT',
    '1769860800',
  ]) {
    assert.equal(timeMs(text), noon, text)
  }
  for (const text of ['', 'soon', '12', null, {}]) assert.equal(timeMs(text), undefined)
  assert.equal(durationMs('P1DT2H'), 93_600_000)
  assert.equal(durationMs('-PT30M'), -1_800_000)
  assert.equal(durationMs('P'), undefined)
  const form = formOfStrftime('%Y-%m-%dT%H:%M:%S.%fZ')
  assert.equal(formatMs(noon, form ?? ''), '2026-01-31T12:00:00.000000Z')
  assert.equal(formatMs(noon, formOfStrftime('%Y-%m-%dT%H:%M:%S.%_msZ') ?? ''), '2026-01-31T12:00:00.000Z')
  assert.equal(formOfStrftime('%Q'), undefined)
})
