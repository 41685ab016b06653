import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from '../../../test/harness/property.ts'
import { facts } from './functions/facts.ts'
import { compileExpression, compileFilter, type Problem, problemOf } from './index.ts'

/** Every error of an expression has a place in its text. Applying its fix removes the error. */

const columns = ['country', 'E-Mail', 'Umsatz gesamt (€)', 'amount', 'consent', 'net', 'not']

const problemIn = (text: string): Problem | undefined => compileExpression(text, columns).problem

/** The text with the place between marks, such as `lower(«contry»)`. */
const marked = (text: string, { at, length }: Problem) =>
  `${text.slice(0, at)}«${text.slice(at, at + length)}»${text.slice(at + length)}`

function assertInside(text: string, { at, length, message }: Problem): void {
  assert(Number.isInteger(at) && at >= 0 && at + length <= text.length, `${text}: ${at} + ${length}, ${message}`)
  assert(length > 0 || text === '', `${text}: ${message} has no length`)
}

/** The text, the marked part, the sentence, and the text after the fix if there is one. */
const problems: readonly (readonly [text: string, marked: string, message: string, fixed?: string])[] = [
  ['', '«»', 'The expression is empty.'],
  ['  ', '«  »', 'The expression is empty.'],
  [
    'row.country == "DE" && bool(row.consent',
    'row.country == "DE" && «bool(»row.consent',
    'The expression is not closed: bool( needs ).',
    'row.country == "DE" && bool(row.consent)',
  ],
  ['max(1, [2, min(3', 'max(1, [2, «min(»3', 'The expression is not closed: min( needs ).', 'max(1, [2, min(3)])'],
  ['country == ', 'country «==» ', 'The expression ends after ==: a value is missing.'],
  ['lower(country) +', 'lower(country) «+»', 'The expression ends after +: a value is missing.'],
  ['lower(', '«lower(»', 'The expression is not closed: lower( needs ).', 'lower()'],
  ['lower(country))', 'lower(country)«)»', 'The expression has a ) that closes nothing.', 'lower(country)'],
  ['country = "DE"', 'country «=» "DE"', 'The expression has a single =: compare with ==.', 'country == "DE"'],
  [
    'country == “DE”',
    'country == «“DE”»',
    'The expression has a quote that is not valid: write " or \'.',
    'country == "DE"',
  ],
  ['upper("DE)', 'upper(«"DE)»', 'The expression has a text without a closing quote.'],
  ['country + "DE', 'country + «"DE»', 'The expression has a text without a closing quote.', 'country + "DE"'],
  [
    'while == 1',
    '«while» == 1',
    'The expression uses a reserved word: write a column of this name as row["…"].',
    'row["while"] == 1',
  ],
  ['country @ 1', 'country «@» 1', 'The expression cannot be read from "@ 1" on.'],
  [
    'contry == "DE"',
    '«contry» == "DE"',
    'The expression has no column contry. Did you mean country?',
    'country == "DE"',
  ],
  [
    'has(row.contry)',
    'has(«row.contry»)',
    'The expression has no column contry. Did you mean country?',
    'has(row.country)',
  ],
  [
    'number(row["Umsatz gesamt"])',
    'number(«row["Umsatz gesamt"]»)',
    'The expression has no column Umsatz gesamt. Did you mean Umsatz gesamt (€)?',
    'number(row["Umsatz gesamt (€)"])',
  ],
  ['row.EMail', '«row.EMail»', 'The expression has no column EMail. Did you mean E-Mail?', 'row["E-Mail"]'],
  // As similar to two names.
  ['has(nxt)', 'has(«nxt»)', 'The expression has no column nxt. Did you mean net?'],
  [
    '1 + lowr(country)',
    '1 + «lowr»(country)',
    'The expression has no function lowr. Did you mean lower?',
    '1 + lower(country)',
  ],
  ['country.lowr()', 'country.«lowr»()', 'The expression has no function lowr. Did you mean lower?', 'country.lower()'],
  ['lower(country, country)', '«lower»(country, country)', 'lower takes 1 argument, not 2.'],
  ['1 + "a"', '1 «+» "a"', '1 is a number, and "a" is a text: write number(…).'],
  ['true + true', 'true «+» true', 'The expression adds a condition.'],
  ['upper([1])', 'upper(«[1]»)', '[1] is a list, not a text: write string(…).'],
  ['row', '«row»', 'The expression needs a column behind row: row.name or row["name"].'],
  ['"a" && true', '«"a"» && true', 'The expression has a text for a condition: compare it, or write bool(…).'],
  ['split(country, ",")', '«split(country, ",")»', 'The expression has a list as its value: write join(…).'],
]

describe('a problem of an expression', () => {
  test('is at its place, in words, with a fix if only one text is meant', () => {
    for (const [text, place, message, after] of problems) {
      const problem = problemIn(text)
      assert(problem, text)
      assert.deepEqual([marked(text, problem), problem.message], [place, message])
      const { fix } = problem
      assert.equal(fix && text.slice(0, fix.at) + fix.text + text.slice(fix.at + fix.length), after, text)
    }
  })

  test('of a filter that is no condition is the whole text', () => {
    const { problem } = compileFilter(' lower(country) ', columns)
    assert(problem)
    assert.equal(marked(' lower(country) ', problem), ' «lower(country)» ')
  })

  test('has a place whatever is cut off, inserted or misspelt in an example of the table', () => {
    const examples = facts
      .filter(({ only }) => only?.in !== 'definitions')
      .flatMap(({ examples }) => examples.map(([text]) => text))
    assert(examples.length > 60)
    let found = 0
    for (const example of examples) {
      const wrong = [...example].flatMap((_, at) => [
        example.slice(0, at),
        example.slice(at),
        example.slice(0, at) + example.slice(at + 1),
        ...['(', ')', ']', '"', ',', '+', '=', 'x', '“', ' '].map(
          (sign) => example.slice(0, at) + sign + example.slice(at),
        ),
      ])
      for (const text of wrong) {
        const problem = problemIn(text)
        if (!problem) continue
        found++
        assertInside(text, problem)
        assert.match(problem.message, /^\S.*[.?]$/su, text)
        // After a fix of the grammar, the text can still be wrong, but elsewhere or for another reason.
        const { fix } = problem
        if (!fix) continue
        const after = text.slice(0, fix.at) + fix.text + text.slice(fix.at + fix.length)
        assert.notDeepEqual(problemIn(after), problem, `${text} → ${after}`)
      }
    }
    assert(found > 5_000, `${found}`)
  })

  test('has a place for every function with too few, too many and unsuitable arguments', () => {
    const values = ['1', '"a"', 'true', '[1]', '{"a": 1}', 'country', 'missing', 'now()', 'hmac(country)', 'x.y.z']
    for (const { name, subject, parameters } of facts) {
      if (subject === 'Operators') continue
      for (const value of values) {
        for (let count = 0; count <= parameters.length + 1; count++) {
          const args = Array.from({ length: count }, () => value).join(', ')
          for (const text of [`${name}(${args})`, `country.${name}(${args})`, `  ${name}(${args}) == 1`]) {
            const { problem } = compileExpression(text, columns, { hashKey: undefined })
            if (problem) assertInside(text, problem)
          }
        }
      }
    }
  })

  test('has a place if only a row shows it', () => {
    const row = ['DE', ' a@example.com', 'k.A.', '1,5', 'maybe', 3, null]
    for (const [text, place, message] of [
      [
        'round(number(row["Umsatz gesamt (€)"], "comma") / 1.19, 2)',
        'round(number(«row["Umsatz gesamt (€)"]», "comma") / 1.19, 2)',
        /is not a number/,
      ],
      ['bool(consent) && true', 'bool(«consent») && true', /neither yes nor no/],
      ['net / 0 + 1', 'net «/» 0 + 1', /divides by zero/],
      ['net == country', 'net «==» country', /is a number, and country is a text/],
      ['true && consent', 'true && «consent»', /has a text for a condition/],
      [
        'lower(country) + (net > 1 ? split(country, ",")[0] : upper(row.net)) + net',
        'lower(country) + (net > 1 ? split(country, ",")[0] : upper(row.net)) «+» net',
        /is a number/,
      ],
    ] as const) {
      const { expression, wrong } = compileExpression(text, columns)
      assert(expression, wrong)
      try {
        assert.fail(String(expression.evaluate(row)))
      } catch (error) {
        const problem = problemOf(error)
        assert.equal(marked(text, problem), place)
        assert.match(problem.message, message)
      }
    }
  })

  test('is found in a text that makes a search for brackets begin again and again', () => {
    const hostile = `1 1 ${'a'.repeat(6_000)}${'('.repeat(3_900)}`
    assert.match(problemIn(hostile)?.message ?? '', /./)
  })

  test('has a place in any text', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'row.',
        'row["',
        '"]',
        '(',
        ')',
        '[',
        ']',
        '{',
        '}',
        '"',
        "'",
        '\\',
        ',',
        '.',
        '?',
        ':',
        ' ',
        '\n',
      ),
      fc.constantFrom(
        '&&',
        '||',
        '!',
        '==',
        '=',
        '<',
        '+',
        '-',
        '*',
        '/',
        '%',
        'in',
        '“',
        '👍',
        'é',
        '//',
        '1',
        '0x',
        '1e',
      ),
      fc.constantFrom(
        'country',
        'while',
        'lower',
        'map',
        'exists',
        'now',
        'true',
        'null',
        ...facts.map(({ name }) => name),
      ),
      fc.string({ maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        const problem = problemIn(text)
        if (problem) assertInside(text, problem)
      }),
      { numRuns: 3_000 },
    )
    for (const long of [
      'a'.repeat(4_001),
      `${'('.repeat(1_900)}1`,
      `"a"${' + "a"'.repeat(400)}`,
      `[${'1,'.repeat(1_500)}1]`,
    ]) {
      const problem = problemIn(long)
      assert(problem)
      assertInside(long, problem)
    }
  })
})
