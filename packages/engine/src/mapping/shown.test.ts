import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cell, column } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { digestOf } from './hash.ts'
import { isPersonal, redact, redactRow, shorten } from './mapping.ts'

const digest = digestOf('sha256', 'ada@example.com')

test('A preview shows what a value is, and not whose it is', () => {
  const values: [value: Cell, personal: boolean, shown: string | null][] = [
    ['ada.lovelace@example.com', true, 'xxx.xxxx…@xxxx….xxx'],
    ['ada.lovelace@example.com', false, 'xxx.xxxx…@xxxx….xxx'],
    ['jörg@müller.example.de', false, 'xxxx@xxxx….xxxx….xx'],
    ['write to ada@example.com, please', false, 'xxxx… xx xxx@xxxx….xxx, xxxx…'],
    [digest, false, 'xxxxxxxx…'],
    ['+14155552671', false, '+########…'],
    ['0171 1234567', false, '#### #######'],
    [4_155_552_671, false, '########…'],
    ['1234567.89', false, '1234567.89'],
    ['cdda802e-fb9c-47ad-9866-0794d394c912', false, 'xxxxxxxx-xxxx-…'],
    ['{"em":"ada@example.com"}', false, '{…}'],
    ['["ada@example.com"]', false, '[…]'],
    ['Lovelace', true, 'Xxxx…'],
    ['de la Cruz, III', true, 'xx xx Xxxx, XXX'],
    ['李小龙', true, 'xxx'],
    ['us', true, 'xx'],
    [1815, true, '####'],
    ['x'.repeat(60), true, 'xxxx…'],
    ['94104-1207', true, '#####-####'],
    ['SW1A 1AA', true, 'XX#X #XX'],
    ['787-0150', true, '###-####'],
    [null, true, null],
    ['', true, ''],
    ['add', false, 'add'],
    ['Customers of this spring', false, 'Customers of this spring'],
    [12.5, false, '12.5'],
    [true, false, 'true'],
    ['2026-11-21', false, '2026-11-21'],
    ['01.02.2017', false, '01.02.2017'],
    ['18.12.2017', false, '18.12.2017'],
    ['01/02/26 10:00', false, '01/02/26 10:00'],
    ['1815-12-10', true, '####-##-##'],
    ['01.02.2017', true, '##.##.####'],
    ['18.12.2017', true, '##.##.####'],
    ['x'.repeat(100), false, `${'x'.repeat(80)}…`],
  ]
  for (const [value, personal, shown] of values) assert.equal(shorten(value, personal), shown, String(value))
})

test('A column is personal by its definition, or by its name where there is none', () => {
  const step = (field: string, name: string, definition?: ReturnType<typeof column>) =>
    isPersonal({ field, definition, column: { name, index: 0 } })
  assert.ok(step('x', 'x', column({ description: '', normalise: 'name' })))
  assert.ok(step('x', 'x', column({ description: '', hashed: ['sha256'] })))
  assert.ok(step('extern_id', 'x', column({ description: '', oneOf: 'identifier' })))
  assert.ok(step('First Name', 'First Name'))
  assert.ok(step('a', 'customer_id'))
  assert.ok(!step('action', 'action', column({ description: '', values: ['add'], oneOf: 'x' })))
  assert.ok(!step('amount', 'amount'))
  assert.ok(step('traits.firstName', 'traits.firstName'), 'a nested key')
  assert.ok(!step('properties.total', 'properties.total'))
})

test('A rejected row keeps its columns and what kinds of values they had, and no value', () => {
  assert.deepEqual(
    redactRow(
      ['email', 'hash', 'phone', 'born', 'country', 'amount', 'vip', 'note', 'empty', 'none', 'gone', '__proto__'],
      ['ada.l@example.com', digest, '+14155552671', '1815-12-10', 'de', 12.5, true, '李小龙', '', null],
    ),
    Object.fromEntries([
      ['email', 'a… (17, e-mail)'],
      ['hash', '… (64, hash)'],
      ['phone', '… (12, phone)'],
      ['born', '… (10, date)'],
      ['country', '… (2)'],
      ['amount', '… (4, number)'],
      ['vip', '… (4, boolean)'],
      ['note', '李… (3)'],
      ['empty', ''],
      ['none', null],
      ['gone', null],
      ['__proto__', null],
    ]),
  )
  assert.equal(redact('x'.repeat(20_000)), 'x… (over 10000)')
  const names = Array.from({ length: 1_000 }, (_, index) => `c${index}`)
  assert.equal(Object.keys(redactRow(names, [])).length, 256)
})

test('Nothing that is kept holds more of a value than its first character, and a mask holds none', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 3 }),
    fc.emailAddress(),
    fc.stringMatching(/^\+?[\d ]{7,15}$/),
  )
  fc.assert(
    fc.property(text, (value) => {
      const kept = redact(value) ?? ''
      assert.match(kept, /^.?… \((\d+|over 10000)(, [a-z-]+)?\)$/su)
      const shown = shorten(value, true) ?? ''
      // Only letters and digits of the form appear, for any value.
      assert.doesNotMatch(shown, /[^\p{P}\p{Z}\s#Xx+]/u)
      if (value.length <= 200) assert.equal(shorten(value, true, 'whole'), value)
    }),
    { numRuns: 1_000 },
  )
})
