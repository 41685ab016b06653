import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from '../../../../test/harness/property.ts'
import { nameMatcher } from './name-pattern.ts'

/** Reference implementation of a pattern as a regular expression. Only for short names, because it backtracks. */
function asExpression(pattern: string, question: boolean): RegExp {
  const source = [...pattern].map((character) => {
    if (character === '*') return '[^]*'
    if (character === '?' && question) return '[^]'
    return character.replace(/[\\^$.*+?()[\]{}|]/, '\\$&')
  })
  return new RegExp(`^${source.join('')}$`)
}

describe('nameMatcher', () => {
  test('finds the names that the pattern means', () => {
    const characters = (letters: readonly string[]) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 9 })
    fc.assert(
      fc.property(
        characters(['a', 'b', '*', '?', '.']),
        characters(['a', 'b', '?', '.']),
        fc.boolean(),
        (pattern, name, question) => {
          assert.equal(nameMatcher(pattern, { question })(name), asExpression(pattern, question).test(name))
        },
      ),
      { numRuns: 20_000 },
    )
  })

  test('takes every character but the wildcards for itself', () => {
    assert.ok(nameMatcher('a+(1).[csv]$*')('a+(1).[csv]$'))
    assert.ok(!nameMatcher('a.csv')('abcsv'))
    assert.ok(!nameMatcher('A*')('abc'))
    assert.ok(!nameMatcher('a?c')('abc'))
    assert.ok(nameMatcher('a?c', { question: true })('a\nc'))
    assert.ok(nameMatcher('**')(''))
  })
})
