import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileExpression } from './columns.ts'
import { facts } from './functions/facts.ts'
import { functions } from './functions/index.ts'
import { ExpressionError, evaluate, reasonOf } from './json.ts'

/** Mappings and definitions use one language: the facts about its functions are true in both. */

const nowMs = Date.parse('2026-11-26T10:00:00.5Z')

/** The value in a mapping, or the error. */
function inMapping(text: string): unknown {
  const { expression, wrong } = compileExpression(text, [], { hashKey: 'key' })
  if (!expression) return { wrong }
  try {
    return expression.evaluate([])
  } catch (error) {
    return { wrong: reasonOf(error) }
  }
}

const inDefinition = (text: string): unknown => evaluate(text, {}, nowMs)

for (const { name, examples, inDefinitions, only } of facts) {
  describe(name, () => {
    if (!only) {
      test('has the same values in mappings and in definitions', () => {
        assert(examples.length > 0, 'an example is missing')
        for (const [text, value] of examples) {
          assert.deepEqual(inMapping(text), value, text)
          assert.deepEqual(inDefinition(text), value, text)
        }
      })
    }
    if (inDefinitions) {
      test('keeps the meaning in definitions that is documented as different', () => {
        for (const [text, value] of inDefinitions.examples) {
          assert.deepEqual(inDefinition(text), value, text)
          assert.notDeepEqual(inMapping(text), value, text)
        }
      })
    }
    if (only) {
      test('is refused in the other language, with the reason', () => {
        const text = `${name}(${name === 'now' ? '' : '"a"'})`
        const reason = new RegExp(`^calls ${name}, which only ${only.in} have: ${only.because}`)
        if (only.in === 'definitions') assert.match((inMapping(text) as { wrong: string }).wrong, reason)
        else assert.throws(() => inDefinition(text), { message: reason })
      })
    }
  })
}

test('every function of the table has a value', () => {
  const missing = [...functions.values()].filter((one) => !one.run && !one.runLazily && one.subject !== 'Lists')
  assert.deepEqual(missing, [])
})

test('an argument that only some values fit is an error of the record, or null', () => {
  const row = ['1,5', 'colon', 'Nowhere/City', '2026-01-31T12:00:00Z']
  const columns = ['amount', 'form', 'zone', 'at']
  const scope = Object.fromEntries(columns.map((name, index) => [name, row[index]]))
  for (const [text, reason] of [
    ['number(amount, form)', 'amount must name the sign before decimals as one of comma, point'],
    ['time("2026-01-31 12:00", "", zone)', '"2026-01-31 12:00" must name a time zone, such as Europe/Berlin'],
    ['formatTime(at, "HH", zone)', 'at must name a time zone, such as Europe/Berlin'],
  ] as const) {
    const { expression } = compileExpression(text, columns)
    assert.throws(() => expression?.evaluate(row), { name: 'ExpressionError', message: reason })
    assert.equal(evaluate(text, scope, nowMs), null, text)
  }
})

test('definitions keep the meanings of their functions from before there was one language', () => {
  const scope = { big: 'a,'.repeat(3_000), list: [{ id: 1 }, { id: 2 }], none: null, lines: 'a\n'.repeat(1_200) }
  const values: Readonly<Record<string, unknown>> = {
    'time(1700000000)': '2023-11-14T22:13:20Z',
    'time("2026-01-31")': '2026-01-31T00:00:00Z',
    'time(12)': '1970-01-01T00:00:12Z',
    'time("Sat, 31 Jan 2026 12:00:00 GMT")': '2026-01-31T12:00:00Z',
    'formatTime(1700000000000, "yyyyMMdd")': '20231114',
    'now()': '2026-11-26T10:00:00Z',
    'json(none)': 'null',
    'json(list)': '[{"id":1},{"id":2}]',
    'string(list[0])': '{"id":1}',
    'join(list.map(one, one.id), ",")': '1,2',
    'max(list.map(one, one.id))': 2,
    'max("9", "10")': '10',
    'keys(list[0])': ['id'],
    'size(lines.split("\\n"))': 1_000,
    'number("")': null,
    'number(" 12 ")': 12,
    'number("12345678901234567890")': 12_345_678_901_234_567_000,
    'round(1.5, 20)': 1.5,
    'round("1.26", 1)': 1.3,
    'substring("abc", -2, -1)': 'b',
    'split(none, ",")': [''],
    'lower(none)': '',
    // Arguments that are missing are null, and further ones have no meaning.
    'substring("abc")': 'abc',
    'lower("A", 1, 2)': 'a',
    'split("ab")': ['a', 'b'],
  }
  for (const [text, value] of Object.entries(values)) assert.deepEqual(evaluate(text, scope, nowMs), value, text)
})

test('a text with too many places to replace is not cut', () => {
  assert.throws(() => evaluate('replace(text, "a", "b")', { text: 'a'.repeat(3_000) }, 0), ExpressionError)
})

test('a table of lookup in a definition is any object, and a list takes a step for each of its items', () => {
  const scope = { countries: { de: 'Germany' }, code: ' DE ', items: Array.from({ length: 6_000 }, (_, id) => id) }
  assert.equal(evaluate('lookup(code, countries, code)', scope, nowMs), 'Germany')
  assert.equal(evaluate('items.all(x, lookup(code, {"de": 1}) == x) || true', scope, nowMs), true)
  assert.throws(() => evaluate('items.map(x, items.map(y, y))', scope, nowMs), { message: /^takes too many steps/ })
})
