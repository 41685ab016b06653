import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fc from '../../../test/harness/property.ts'
import { functions } from './functions/index.ts'
import { compileExpression } from './index.ts'
import { type Cell, expressionLimits } from './values.ts'

const columns = ['country', 'E-Mail', 'amount', 'consent', 'n', 'address', 'born', 'none', 'constructor', '__proto__']
const known = ['DE', ' Ann@Example.com ', '1.001,50', 'yes', 3, '{"city":"Bonn","zip":[53113]}', '22.11.2026 10:00']
const row = [...known, null, 'c', 'p']

const callable = [...functions].filter(([, { only }]) => only?.in !== 'definitions').map(([name]) => name)

/** The value for the row above, or the error. */
function evaluated(text: string, cells: readonly Cell[] = row): Cell | { wrong: string } {
  const { expression, wrong } = compileExpression(text, columns)
  if (!expression) return { wrong }
  try {
    return expression.evaluate(cells)
  } catch (error) {
    assert(error instanceof Error && error.name === 'ExpressionError', `${text}: ${error}`)
    return { wrong: error.message }
  }
}

const values: readonly (readonly [string, Cell])[] = [
  ['country == "DE" && bool(consent)', true],
  ['row["E-Mail"].trim().lower()', 'ann@example.com'],
  ['lower(trim(row["E-Mail"]))', 'ann@example.com'],
  ['round(number(row.amount, "comma") * 1.19, 2)', 1191.79],
  ['0.1 + 0.2', 0.3],
  ['round(1.005, 2)', 1.01],
  ['floor(-1.5) + ceil(1.2) + abs(-1)', 1],
  ['7 % 4 - n / 2', 1.5],
  ['min(4, n, none)', 3],
  ['-n', -3],
  ['country + "-" + string(n)', 'DE-3'],
  ['country in ["DE", "AT"]', true],
  ['n in [1, 2]', false],
  ['split("a, b", ",").exists(one, one.trim() == "b")', true],
  ['split("a,b", ",").all(one, one == "b")', false],
  ['split("a,,b", ",").filter(one, has(one)).map(one, upper(one)).join("-")', 'A-B'],
  ['split(row["E-Mail"], "@")[-1].trim()', 'Example.com'],
  ['split(row["E-Mail"], "@")[7]', null],
  ['substring(country, 0, 1) + substring(country, 1)', 'DE'],
  ['replace("a.b.c", ".", "")', 'abc'],
  ['size("é👍")', 2],
  ['row["E-Mail"].contains("@") && country.startsWith("D") && country.endsWith("E")', true],
  ['lookup(country, {" de": "Germany", "FR": "France"})', 'Germany'],
  ['lookup("x", {"a": 1})', null],
  ['lookup(none, {"a": 1}, 2)', 2],
  ['json(address, "city") + string(json(address, "zip.0"))', 'Bonn53113'],
  ['json(address, "__proto__.constructor")', null],
  ['time(born, "", "Europe/Berlin")', '2026-11-22T09:00:00Z'],
  ['formatTime(time(born, "DMY", "Europe/Berlin"), "dd.MM.yy HH:mm:ss", "America/New_York")', '22.11.26 04:00:00'],
  [`formatTime("2026-01-02", "'on' yyyyMMdd")`, 'on 20260102'],
  ['coalesce(none, "", country)', 'DE'],
  ['has(none) ? "yes" : "no"', 'no'],
  // An empty cell is the empty text. It equals only itself, and has no order.
  ['none == "" && none == null && none != "x" && none != 5', true],
  ['none > 1 || none < 1 || none >= "a" || none <= "a"', false],
  ['number(none) + 1', null],
  ['!none', true],
  // Names of objects are names of columns, and nothing else.
  ['row.constructor + row["__proto__"]', 'cp'],
]

const failures: readonly (readonly [string, string])[] = [
  ['', 'is empty, at character 1'],
  ['country =', 'has a single =: compare with ==, at character 9'],
  ['country == ', 'ends after ==: a value is missing, at character 9'],
  ['“DE”', 'has a quote that is not valid: write " or \', at character 1'],
  ['a.b.c', 'has a name after a dot that is no column: write row.name, or json(…), at character 1'],
  ['contry == "DE"', 'has no column contry, at character 1. Did you mean country?'],
  ['country == "DE" && lowr(country) == "x"', 'has no function lowr, at character 20. Did you mean lower?'],
  ['row["E-mail"]', 'has no column E-mail, at character 1. Did you mean E-Mail?'],
  ['country.toString', 'has a name after a dot that is no column: write row.name, or json(…), at character 1'],
  ['matches(country, "^(a+)+$")', 'has no function matches, at character 1'],
  ['cel.bind(a, 1, a + a)', 'has no function bind, at character 5'],
  ['toString(country)', 'has no function toString, at character 1. Did you mean string?'],
  ['lower(country, country)', 'lower takes 1 argument, not 2, at character 1'],
  ['1 + "a"', '1 is a number, and "a" is a text: write number(…), at character 3'],
  [
    'number(amount, "dot")',
    'calls number, which must name the sign before decimals as one of comma, point, at character 1',
  ],
  ['time(born, "DMY", "Berlin")', 'calls time, which must name a time zone, such as Europe/Berlin, at character 1'],
  ['lookup(country, {"DE": n})', 'has a table that is not fixed, at character 18'],
  ['split(country, ",")', 'has a list as its value: write join(…), at character 1'],
  ['row', 'needs a column behind row: row.name or row["name"], at character 1'],
  ['"a" && true', 'has a text for a condition: compare it, or write bool(…), at character 1'],
  // For a row.
  ['amount > 10', 'amount is a text, and 10 is a number: write number(…)'],
  ['n == "3"', 'n is a number, and "3" is a text: write number(…)'],
  ['number(country)', 'country is not a number'],
  ['number("12345678901234567890")', '"12345678901234567890" has more digits than a number keeps'],
  ['bool(country)', 'country is neither yes nor no'],
  ['n / 0', 'divides by zero'],
  ['json(country, "a")', 'country is not JSON'],
  ['formatTime(born, "yyyy")', 'born is not a time in ISO 8601: write time(…)'],
  ['consent && true', 'has a text for a condition: compare it, or write bool(…)'],
]

describe('an expression', () => {
  test('has a value of each row', () => {
    for (const [text, value] of values) assert.deepEqual(evaluated(text), value, text)
  })

  test('that is wrong says what, where, and what may be meant, without values of the row', () => {
    for (const [text, wrong] of failures) assert.deepEqual(evaluated(text), { wrong }, text)
  })

  test('has the value that the guide says', () => {
    const guide = readFileSync(new URL('../../../docs/expressions.md', import.meta.url), 'utf8')
    const record = {
      country: 'DE',
      'E-Mail': 'Ann@Example.com',
      net: '1.001,50',
      consent: 'yes',
      n: 3,
      tags: 'new, vip',
      born: '22.11.2026 10:00',
      address: '{"city": "Bonn"}',
      phone: '',
    }
    const examples =
      guide
        .split('## Examples')[1]
        ?.split('## Operators')[0]
        ?.matchAll(/^\| `(.+)` \| `(.+)` \|$/gm) ?? []
    let count = 0
    for (const [, text = '', value = ''] of examples) {
      const { expression, wrong } = compileExpression(text.replaceAll('\\|', '|'), Object.keys(record))
      const made = expression?.evaluate(Object.values(record)) ?? null
      assert.deepEqual(made, JSON.parse(value.replaceAll('\\|', '|')), `${text} ${wrong}`)
      count++
    }
    assert(count > 15)
    for (const name of callable) assert(guide.includes(`${name}(`), `the guide explains ${name}`)
  })

  test('hashes with the key of the configuration, and is refused if there is none', () => {
    // RFC 4231, test case 2.
    const key = { hashKey: 'Jefe' }
    const { expression } = compileExpression('hmac(text)', ['text'], key)
    const digest = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
    assert.equal(expression?.evaluate(['what do ya want for nothing?']), digest)
    assert.equal(expression?.evaluate([null]), null)
    const other = compileExpression('hmac(text)', ['text'], { hashKey: 'other' }).expression
    assert.notEqual(other?.evaluate(['what do ya want for nothing?']), digest)
    const missing = compileExpression('has(text) ? hmac(text) : ""', ['text'], { hashKey: undefined })
    assert.match(missing.wrong ?? '', /save a hash key in the configuration of the destination/)
    assert.equal(compileExpression('lower(text)', ['text'], { hashKey: undefined }).wrong, undefined)
    assert.equal(compileExpression('hmac(text)', undefined).wrong, undefined)
  })

  test('takes any name for a column while the columns are not known', () => {
    assert.deepEqual(compileExpression('row["x y"] + other', undefined).expression?.columns, ['x y', 'other'])
    assert(compileExpression('nothing(other)', undefined).wrong)
  })

  test('takes the first of two columns with one name', () =>
    assert.equal(compileExpression('a', ['a', 'a']).expression?.evaluate([1, 2]), 1))

  test('is bounded, however it is written', () => {
    const doubled = `split("a,b", ",")${'.map(x, x + x)'.repeat(40)}.join()`
    const nested = 'split(small, "").all(x, split(small, "").all(y, split(small, "").all(z, has(z))))'
    const attacks: readonly (readonly [string, RegExp])[] = [
      [`${'('.repeat(1_900)}1${')'.repeat(1_899)})`, /too deep/],
      [`${'!'.repeat(3_900)}true`, /too deep/],
      [`"a"${' + "a"'.repeat(400)}`, /too deep|too long/],
      [`big${' + big'.repeat(90)}`, /more than 100000 characters/],
      [doubled, /too deep|more than|steps/],
      [nested, /steps/],
      ['split(big, "").join()', /more than 1000 parts/],
      ['replace(big, "x", big)', /too long|too many/],
      [`[${'1,'.repeat(1_500)}1].exists(x, x == 2)`, /too long/],
      [`"${'a'.repeat(4_000)}"`, /more than 4000 characters/],
    ]
    const big = 'x'.repeat(90_000)
    for (const [text, expected] of attacks) {
      const started = performance.now()
      const { expression, wrong = '' } = compileExpression(text, ['big', 'small'])
      const say = () => {
        try {
          return String(expression?.evaluate([big, 'x'.repeat(900)]))
        } catch (error) {
          return (error as Error).message
        }
      }
      assert.match(expression ? say() : wrong, expected, text.slice(0, 60))
      assert(performance.now() - started < 500, text.slice(0, 60))
    }
  })

  test('of any form throws nothing else, for any row', () => {
    const cell = fc.oneof(fc.string({ maxLength: 30 }), fc.double(), fc.boolean(), fc.constant(null))
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'expression' },
        fc.constantFrom(...['row.n', 'country', '"a"', '1', '0.5', 'true', 'null', '[1, 2]', 'x', '{"a": 1}']),
        fc.constantFrom('row.__proto__', 'row["constructor"]', 'this', '"é\\u0000👍"'),
        fc
          .tuple(
            tie('expression'),
            fc.constantFrom('+', '-', '*', '/', '%', '==', '<', 'in', '&&', '||'),
            tie('expression'),
          )
          .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
        fc
          .tuple(fc.constantFrom(...callable), fc.array(tie('expression'), { maxLength: 3 }))
          .map(([name, args]) => `${name}(${args.join(', ')})`),
        fc
          .tuple(tie('expression'), fc.constantFrom('map', 'filter', 'all', 'exists'), tie('expression'))
          .map(([list, macro, body]) => `split(string(${list}), "").${macro}(x, ${body})`),
        fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `(${a})[${b}] ? ${b} : -${a}`),
      ),
    }))
    fc.assert(
      fc.property(
        fc.oneof(expression, fc.string({ maxLength: 60 })),
        fc.array(cell, { maxLength: 10 }),
        (text, cells) => {
          const made = evaluated(text, cells)
          assert(typeof made !== 'string' || made.length <= expressionLimits.textLength)
        },
      ),
      { numRuns: 500 },
    )
  })
})
