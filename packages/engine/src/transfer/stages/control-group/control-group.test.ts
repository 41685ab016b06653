import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Row } from '@penstock/connector'
import { skipCode } from '../../../skipped.ts'
import { controlGroupOf, controlMembership, divideRows, keyTextOf } from './control-group.ts'

const held = skipCode('controlGroup')

describe('a control group', () => {
  test('has the keys that the documented function selects', () => {
    // select ('x' || left(encode(sha256('s|17'), 'hex'), 12))::bit(48)::bigint / 2^48::float8
    const share = 0.418000676310438
    const below = (percent: number) => controlMembership({ salt: 's', percent })('17')
    assert.deepEqual([below(Math.floor(share * 100)), below(Math.ceil(share * 100))], [false, true])
  })

  test('has the right share of many keys, and only grows with it', () => {
    const keys = Array.from({ length: 20_000 }, (_, n) => `person-${n}`)
    let before: Uint8Array | undefined
    for (const percent of [0, 1, 10, 11, 50]) {
      const isMember = controlMembership({ salt: '2026', percent })
      const members = Uint8Array.from(keys, (key) => Number(isMember(key)))
      const count = members.reduce((sum, one) => sum + one, 0)
      const share = percent / 100
      // Six standard deviations.
      assert(
        Math.abs(count - share * keys.length) <= 6 * Math.sqrt(keys.length * share * (1 - share)),
        `${percent}: ${count}`,
      )
      assert(before?.every((one, at) => one <= (members[at] as number)) ?? true, String(percent))
      before = members
    }
  })

  test('is held back, or sent without the others; rows without a key are rejected, removals pass', async () => {
    const group = { key: ['id', 'shop'], salt: '', percent: 50 }
    const isMember = controlMembership(group)
    const rows: Row[] = Array.from({ length: 1_200 }, (_, n) => ['x', n % 2 === 0 ? n : String(n), 'a'])
    rows[3] = ['x', null, 'a']
    rows[4] = ['x', 4, '']
    const source = { columns: ['name', 'shop', 'id'], errors: new Map([[5, 'broken']]), removed: new Set([6]) }
    const skipped = new Uint8Array(rows.length)
    skipped[7] = 1
    for (const isSent of [false, true]) {
      const before = { rows, errors: new Map([[8, { reason: 'invalid' }]]), skipped }
      const mapped = await divideRows({ ...group, isSent }, isMember, before, source)
      assert.deepEqual([...mapped.errors.keys()].sort(), [3, 4, 8])
      assert.match(mapped.errors.get(3)?.reason ?? '', /no value in a key column of the control group: id, shop/)
      const left = isSent ? skipCode('filtered') : held
      const untouched = new Map([3, 4, 5, 6, 8].map((at) => [at, 0])).set(7, 1)
      for (const at of rows.keys()) {
        const member = isMember(`a|${at}`)
        assert.equal(mapped.skipped?.[at], untouched.get(at) ?? (member === isSent ? 0 : left), String(at))
      }
    }
    assert.equal(skipped[9], 0, 'the given codes did not change')
  })

  test('comes from the settings of a destination', () => {
    assert.equal(controlGroupOf({ controlKey: 'id', controlPercent: 10 }), undefined)
    assert.equal(controlGroupOf({ controlGroup: 'None', controlKey: 'id' }), undefined)
    assert.deepEqual(controlGroupOf({ controlGroup: 'Only', controlKey: ' id, shop', controlPercent: '5' }), {
      key: ['id', 'shop'],
      salt: '',
      percent: 5,
      isSent: true,
    })
    assert.equal(keyTextOf(['x', true, 1.5], [2, 1]), '1.5|true')
  })
})
