import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LocalForm } from '@penstock/expressions/local'
import { readLocalNumber, readLocalTime } from '@penstock/expressions/local'
import fc from '../../../../test/harness/property.ts'
import { proposeForms } from './propose-forms.ts'

const found = (reads: 'number' | 'time', values: readonly string[], local: LocalForm = {}, zone?: string) =>
  proposeForms(reads, values, local, zone).map(({ setting, proposed, reason, example }) =>
    [setting, proposed ?? '-', reason, example].join(' '),
  )

describe('forms that values propose', () => {
  test('of numbers', () => {
    for (const [values, ...expected] of [
      [['1.001,50'], 'numbers comma shown 1.001,50'],
      [['12', '1.001', '12,5', 'n/a'], 'numbers comma shown 12,5'],
      [['1,001', '1,001.50'], 'numbers point shown 1,001.50'],
      [['1,001', '0.5e3'], 'numbers point shown 0.5e3'],
      [['1.50', '12', '-3.25', '0.125', '1.001']],
      [['1,001'], 'numbers - ambiguous 1,001'],
      [['1.001', '2.500'], 'numbers - ambiguous 1.001'],
      [['1.001,50', '1,001.50'], 'numbers - contradicting 1,001.50'],
      [['1 001', '12', '', 'x', '€ 12,50']],
    ] as const) {
      assert.deepEqual(found('number', values), expected, values.join(' '))
    }
    assert.deepEqual(found('number', ['1.001,50'], { numbers: 'point' }), [], 'the mapping says it')
    assert.deepEqual(proposeForms('number', [1.5, true, null], {}, undefined), [])
  })

  test('of dates and times', () => {
    for (const [values, ...expected] of [
      [['25/12/2026'], 'dates DMY shown 25/12/2026'],
      [['03/04/2026', '12-25-2026'], 'dates MDY shown 12-25-2026'],
      [['03/04/2026', '05/05/2026'], 'dates - ambiguous 03/04/2026'],
      [['25/12/2026', '12/25/2026'], 'dates - contradicting 12/25/2026'],
      [['25.12.2026', '2026-12-25', '5/5/2026', '31/02/2026', 'x', '1700000000']],
      [['2026-11-22 10:00'], 'timezone - missing 2026-11-22 10:00'],
      [['2026-11-22T10:00:00Z', '2026-11-22 10:00+01:00']],
      [['25/12/2026 10:00'], 'dates DMY shown 25/12/2026 10:00', 'timezone - missing 25/12/2026 10:00'],
    ] as const) {
      assert.deepEqual(found('time', values), expected, values.join(' '))
    }
    assert.deepEqual(found('time', ['2026-11-22 10:00'], {}, 'Europe/Berlin'), [
      'timezone Europe/Berlin default 2026-11-22 10:00',
    ])
    assert.deepEqual(found('time', ['25/12/2026 10:00'], { dates: 'DMY', timezone: 'Europe/Berlin' }), [])
  })

  test('are never wrong for numbers of a locale', () => {
    const amounts = fc.array(
      fc.tuple(fc.integer({ min: -9_999_999, max: 9_999_999 }), fc.integer({ min: 0, max: 3 })),
      {
        minLength: 1,
        maxLength: 20,
      },
    )
    const locales = fc.constantFrom(
      ...([
        ['de-DE', 'comma'],
        ['en-US', 'point'],
        ['fr-FR', 'comma'],
        ['es-ES', 'comma'],
        ['de-CH', 'point'],
      ] as const),
    )
    fc.assert(
      fc.property(amounts, locales, fc.boolean(), (numbers, [locale, form], useGrouping) => {
        const texts = numbers.map(([n, digits]) =>
          new Intl.NumberFormat(locale, {
            minimumFractionDigits: digits,
            maximumFractionDigits: digits,
            useGrouping,
          }).format(n / 10 ** digits),
        )
        const [finding] = proposeForms('number', texts, {}, undefined)
        assert.notEqual(finding?.reason, 'contradicting', texts.join(' '))
        if (finding?.proposed == null) return
        assert.equal(finding.proposed, form, texts.join(' '))
        for (const [at, [n, digits]] of numbers.entries()) {
          // Intl writes a special minus sign in some locales, which destinations do not accept in a number.
          const read = readLocalNumber(texts[at] ?? '', form).text
          if (!texts[at]?.includes('−')) assert.equal(Number(read), n / 10 ** digits, texts[at])
        }
      }),
    )
  })

  test('are never wrong for dates of an order, nor for any mixture', () => {
    const days = fc
      .integer({ min: Date.UTC(1900, 0, 1) / 86_400_000, max: Date.UTC(2099, 11, 31) / 86_400_000 })
      .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10))
    const write = (day: string, order: 'DMY' | 'MDY', separator: string, pads: boolean) => {
      const [year, month, date] = day.split('-').map((part, at) => (pads || at === 0 ? part : String(Number(part))))
      return order === 'DMY' ? [date, month, year].join(separator) : [month, date, year].join(separator)
    }
    const column = fc.array(days, { minLength: 1, maxLength: 20 })
    const orders = fc.constantFrom('DMY' as const, 'MDY' as const)
    fc.assert(
      fc.property(column, orders, fc.constantFrom('/', '-'), fc.boolean(), (dates, order, separator, pads) => {
        const texts = dates.map((day) => write(day, order, separator, pads))
        const [finding] = proposeForms('time', texts, {}, undefined)
        assert.notEqual(finding?.reason, 'contradicting', texts.join(' '))
        if (finding?.proposed == null) return
        assert.equal(finding.proposed, order)
        for (const [at, day] of dates.entries()) {
          assert.equal(readLocalTime(texts[at] ?? '', { dates: order }, true).text, day, texts[at])
        }
      }),
    )
    fc.assert(
      fc.property(column, column, (some, others) => {
        const texts = [
          ...some.map((day) => write(day, 'DMY', '/', true)),
          ...others.map((day) => write(day, 'MDY', '/', true)),
        ]
        const [finding] = proposeForms('time', texts, {}, undefined)
        if (finding?.proposed == null) return
        // No value is a day only in the other order.
        const order = finding.proposed as 'DMY' | 'MDY'
        for (const text of texts) assert.equal(readLocalTime(text, { dates: order }, true).wrong, undefined, text)
      }),
    )
  })

  test('fail for no text', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 40 })), (texts) => {
        proposeForms('number', texts, {}, undefined)
        proposeForms('time', texts, {}, undefined)
      }),
    )
  })
})
