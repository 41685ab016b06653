import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../test/harness/property.ts'
import { readLocalNumber } from './local-numbers.ts'
import { readLocalTime } from './local-times.ts'
import { isTimezone } from './timezones.ts'

const number = (text: string, form?: 'comma' | 'point') => readLocalNumber(text, form).text ?? null
const time = (text: string, form: Parameters<typeof readLocalTime>[1] = {}, needsZone = true) =>
  readLocalTime(text, form, needsZone).text ?? null

test('numbers that can be read in one way are read', () => {
  for (const [text, expected] of [
    ['1.001,50', '1001.50'],
    ['1,001.50', '1001.50'],
    ['1.001.001', '1001001'],
    ['1,001,001', '1001001'],
    ['1 001,50', '1001.50'],
    ['1\u202f001\u00a0002,5', '1001002.5'],
    ["1'001.50", '1001.50'],
    ['1’001', '1001'],
    ['12,5', '12.5'],
    ['0,125', '0.125'],
    ['1001,505', '1001.505'],
    ['-1.001,50', '-1001.50'],
    ['+12,50', '+12.50'],
    ['1.001', '1.001'],
    ['1e9', '1e9'],
    ['12.5', '12.5'],
    ['', ''],
    ['abc', 'abc'],
    ['€ 12,50', '€ 12,50'],
    ['1.00,5', '1.00,5'],
  ] as const) {
    assert.equal(number(text), expected, text)
  }
})

test('a number that can be read in two ways needs a form', () => {
  assert.match(readLocalNumber('1,001', undefined).wrong ?? '', /two ways.*"numbers": "comma"/)
  assert.deepEqual([number('1,001', 'comma'), number('1,001', 'point')], ['1.001', '1001'])
  assert.deepEqual([number('1.001', 'comma'), number('1.001', 'point')], ['1001', '1.001'])
  assert.match(readLocalNumber('12.5', 'comma').wrong ?? '', /decimal comma/)
  assert.equal(number('1.00', 'comma'), null)
  assert.equal(number('12', 'comma'), '12')
})

test('every amount is read from its form in a locale', () => {
  const amounts = fc.tuple(fc.integer({ min: -999_999_999, max: 999_999_999 }), fc.integer({ min: 0, max: 99 }))
  fc.assert(
    fc.property(amounts, ([whole, cents]) => {
      const value = whole + (whole < 0 ? -cents : cents) / 100
      const written = (locale: string) =>
        new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(value)
      for (const [locale, form] of [
        ['de-DE', 'comma'],
        ['en-US', 'point'],
        ['fr-FR', 'comma'],
        ['it-IT', 'comma'],
      ] as const) {
        for (const given of [form, undefined])
          assert.equal(Number(number(written(locale), given)), Number(value.toFixed(2)))
      }
    }),
  )
})

test('times that can be read in one way are read', () => {
  const berlin = { timezone: 'Europe/Berlin' }
  for (const [text, expected] of [
    ['22.11.2026 10:00', '2026-11-22T09:00:00Z'],
    ['25/12/2026', '2026-12-24T23:00:00Z'],
    ['12/25/2026 5:30 PM', '2026-12-25T16:30:00Z'],
    ['2026-11-22 10:00', '2026-11-22T09:00:00Z'],
    ['2026-07-01T10:00:00.123456', '2026-07-01T08:00:00.123456Z'],
    ['03.04.1988', '1988-04-02T22:00:00Z'],
    ['5/5/2026', '2026-05-04T22:00:00Z'],
    ['2026/11/22', '2026-11-21T23:00:00Z'],
    ['22.11.2026 10:00 +0200', '2026-11-22T10:00:00+02:00'],
    ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00Z'],
    ['1700000000', '1700000000'],
    ['yesterday', 'yesterday'],
    ['12:00 AM', '12:00 AM'],
    ['1/31/2026 12:05 AM', '2026-01-30T23:05:00Z'],
  ] as const) {
    assert.equal(time(text, berlin), expected, text)
  }
})

test('the clocks of a zone skip an hour, and show one twice', () => {
  const berlin = { timezone: 'Europe/Berlin' }
  assert.equal(time('2026-03-29 02:30', berlin), '2026-03-29T01:30:00Z')
  assert.equal(time('2026-10-25 02:30', berlin), '2026-10-25T00:30:00Z')
  assert.equal(time('2026-10-25 03:00', berlin), '2026-10-25T02:00:00Z')
  assert.equal(time('2026-11-01 01:30', { timezone: 'America/New_York' }), '2026-11-01T05:30:00Z')
})

test('every time is read from its form in a zone', () => {
  const times = fc.date({ min: new Date('1990-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
  const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC')
  fc.assert(
    fc.property(times, zones, (date, timezone) => {
      const atMs = Math.floor(date.getTime() / 1000) * 1000
      const [day, clock] = new Date(atMs).toLocaleString('sv-SE', { timeZone: timezone }).split(' ')
      const read = Date.parse(time(`${day} ${clock}`, { timezone }) ?? '')
      // A time that the clocks show twice means the first one.
      assert.ok(read === atMs || (read < atMs && atMs - read <= 3_600_000), `${day} ${clock} ${timezone}`)
      assert.equal(new Date(read).toLocaleString('sv-SE', { timeZone: timezone }), `${day} ${clock}`)
    }),
  )
})

test('a time that can be read in two ways, is none, or has no zone says what to set', () => {
  const wrong = (text: string, form = {}) => readLocalTime(text, form, true).wrong ?? ''
  assert.match(wrong('03/04/1988'), /two ways.*"dates": "DMY"/)
  assert.equal(time('03/04/1988', { dates: 'MDY', timezone: 'UTC' }), '1988-03-04T00:00:00Z')
  assert.equal(time('03/04/1988', { dates: 'DMY', timezone: 'UTC' }), '1988-04-03T00:00:00Z')
  assert.match(wrong('31.02.2026'), /not a valid date/)
  assert.match(wrong('22.11.2026 25:00', { timezone: 'UTC' }), /not a time/)
  assert.match(wrong('11/22/2026 13:00 PM', { timezone: 'UTC' }), /not a time/)
  assert.match(wrong('22.11.2026 10:00'), /no time zone.*Europe\/Berlin.*defaultTimezone/)
  assert.equal(time('22.11.2026'), '2026-11-22', 'a day alone')
  assert.equal(time('22.11.2026 10:00', {}, false), '2026-11-22T10:00:00')
  assert.deepEqual(['Europe/Berlin', 'UTC', 'Nowhere/City', '+02:00', '', 'CET'].map(isTimezone), [
    true,
    true,
    false,
    false,
    false,
    true,
  ])
})
