import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { beginningOf, shiftedBack } from './ranges.ts'

const reading = { cursor: 'changed', lookBackHours: 0, timezone: 'Europe/Paris' }
const days = { range: { from: '2026-01-31', to: '2026-02-28' } }
const times = { range: { from: '2026-07-01T10:00:00Z', to: '2026-07-01T12:30:00Z' } }

describe('the range of a backfill', () => {
  test('ends behind its last day', () => {
    const { earlier, within, keepsCursor } = beginningOf(days, reading, { clock: 'local' }, { after: ['x'], skip: 0 })
    assert.deepEqual(
      [earlier, within, keepsCursor],
      [undefined, { from: '2026-01-31 00:00:00', before: '2026-03-01 00:00:00' }, false],
    )
    assert.deepEqual(beginningOf(days, reading, { clock: 'day' }, undefined).within, {
      from: '2026-01-31',
      before: '2026-03-01',
    })
  })

  test('has times by the clock of the column', () => {
    const textOf = (time: string) => `${time}+00`
    assert.deepEqual(beginningOf(times, reading, { clock: 'utc', textOf }, undefined).within, {
      from: '2026-07-01 10:00:00+00',
      before: '2026-07-01 12:30:00+00',
    })
    assert.deepEqual(beginningOf(times, reading, { clock: 'local' }, undefined).within, {
      from: '2026-07-01 12:00:00',
      before: '2026-07-01 14:30:00',
    })
  })

  test('has all times that the clocks show in it, also when they go back or forward', () => {
    const boundsOf = (from: string, to: string, timezone = 'Europe/Paris') => {
      const { within } = beginningOf({ range: { from, to } }, { ...reading, timezone }, { clock: 'local' }, undefined)
      return [within?.from, within?.before]
    }
    const fold = (from: string, to: string) => boundsOf(`2026-10-25T${from}Z`, `2026-10-25T${to}Z`)
    // The clocks show 02:00 to 03:00 twice, before and after 01:00 in UTC.
    for (const [from, to] of [
      ['00:00:00', '01:00:00'],
      ['01:00:00', '02:00:00'],
      ['00:00:00', '02:00:00'],
      ['00:30:00', '01:30:00'],
    ] as const) {
      assert.deepEqual(fold(from, to), ['2026-10-25 02:00:00', '2026-10-25 03:00:00'], `${from} to ${to}`)
    }
    assert.deepEqual(fold('00:30:00', '01:00:00'), ['2026-10-25 02:30:00', '2026-10-25 03:00:00'])
    assert.deepEqual(fold('01:10:00', '01:20:30'), ['2026-10-25 02:10:00', '2026-10-25 02:20:30'])
    assert.deepEqual(boundsOf('2026-10-25T00:30:00Z', '2026-12-01T00:00:00Z'), [
      '2026-10-25 02:00:00',
      '2026-12-01 01:00:00',
    ])
    assert.deepEqual(boundsOf('2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z'), [
      '2026-03-29 01:30:00',
      '2026-03-29 03:30:00',
    ])
    // Half an hour, on Lord Howe Island.
    assert.deepEqual(boundsOf('2026-04-04T14:30:00Z', '2026-04-04T15:00:00Z', 'Australia/Lord_Howe'), [
      '2026-04-05 01:30:00',
      '2026-04-05 02:00:00',
    ])
  })

  test('is refused without a cursor that is a time', () => {
    const refused = { code: 'invalid_setting' }
    assert.throws(() => beginningOf(days, { ...reading, cursor: undefined }, undefined, undefined), refused)
    assert.throws(() => beginningOf(days, reading, undefined, undefined), refused)
    assert.throws(() => beginningOf(times, reading, { clock: 'day' }, undefined), refused)
  })
})

describe('the look-back window', () => {
  test('begins before the last cursor', () => {
    const ended = { after: ['2026-03-01 01:30:00.123456+00', '7'], skip: 1 }
    const found = beginningOf({}, { ...reading, lookBackHours: 2 }, { clock: 'utc' }, ended)
    assert.deepEqual(found, {
      earlier: undefined,
      within: { from: '2026-02-28 23:30:00.123456+00' },
      keepsCursor: true,
    })
    assert.deepEqual(beginningOf({}, reading, { clock: 'utc' }, ended).earlier, ended)
    assert.deepEqual(beginningOf({}, { ...reading, lookBackHours: 2 }, { clock: 'utc' }, undefined).within, undefined)
    assert.throws(() => beginningOf({}, { ...reading, lookBackHours: 2 }, undefined, ended), {
      code: 'invalid_setting',
    })
  })

  test('is as long by a clock that was set forward in it', () => {
    const fromOf = (text: string, lookBackHours: number) =>
      beginningOf({}, { ...reading, lookBackHours }, { clock: 'local' }, { after: [text], skip: 0 }).within?.from
    // An hour before 03:30 in summer was 01:30 in winter.
    assert.equal(fromOf('2026-03-29 03:30:00.5', 1), '2026-03-29 01:30:00.5')
    assert.equal(fromOf('2026-07-01 12:00:00', 2), '2026-07-01 10:00:00')
    assert.equal(fromOf('2026-10-25 12:00:00', 24), '2026-10-24 12:00:00')
  })

  test('keeps the form of the text', () => {
    const texts: [string, number, string | undefined][] = [
      ['2026-01-01', 24, '2025-12-31'],
      ['2026-01-01T00:00:00.000000001', 1, '2025-12-31T23:00:00.000000001'],
      ['1767225600000000', 1, '1767222000000000'],
      ['infinity', 1, undefined],
      ['0044-03-15 BC', 1, undefined],
      ['0001-01-01 00:00:00', 1, undefined],
    ]
    for (const [text, hours, expected] of texts) assert.equal(shiftedBack(text, hours), expected, text)
  })
})

describe('rows that wait', () => {
  test('are announced in the log, by the clock of the cursor', () => {
    const linesOf = (clock: 'utc' | 'local' | 'day', lagSeconds: number): string[] => {
      const lines: string[] = []
      beginningOf({ log: (text) => lines.push(text) }, { ...reading, lagSeconds }, { clock }, undefined)
      return lines
    }
    assert.deepEqual(linesOf('utc', 60), ['Rows of the last 60 seconds are read by the next transfer.'])
    assert.deepEqual(linesOf('local', 1), ['Rows of the last second are read by the next transfer.'])
    assert.deepEqual(linesOf('utc', 0), [])
    assert.deepEqual(linesOf('day', 60), ['Rows of today are read when the day is over.'])
  })
})
