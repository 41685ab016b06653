import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { readTimestamp } from './types.ts'

const parse = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text') as (text: string) => Date

test('a timestamp is read as the driver reads it', () => {
  const days = ['2026-11-22', '1999-12-31', '2024-02-29', '0099-03-04', '0100-03-04', '9999-12-31', '12026-01-02']
  const times = [
    '00:00:00',
    '23:59:59',
    '12:34:56.5',
    '12:34:56.75',
    '12:34:56.001',
    '12:34:56.789012',
    '01:02:03.999999',
  ]
  const zones = ['+00', '-00', '+01', '-11', '+14', '+05:30', '-03:30', '+00:19:32', '+00 BC', '+01 BC', '']
  for (const day of days) {
    for (const time of times) {
      for (const zone of zones) {
        const text = `${day} ${time}${zone}`
        assert.equal(readTimestamp(text).getTime(), parse(text).getTime(), text)
      }
    }
  }
  assert.equal(readTimestamp('infinity') as unknown, Number.POSITIVE_INFINITY)
  assert.equal(readTimestamp('-infinity') as unknown, Number.NEGATIVE_INFINITY)
})
