import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isVolumeUnusual } from './volume.ts'

describe('a volume is far from usual', () => {
  const steady = [10_000, 10_100, 9_900, 10_050, 9_950, 10_000, 10_020, 9_980]
  for (const [what, day, history, percent, expected] of [
    ['where it is zero', 0, steady, 50, true],
    ['where it doubles', 20_100, steady, 50, true],
    ['not where it is within the percentage', 6_000, steady, 50, false],
    ['not at the percentage itself', 5_000, steady, 50, false],
    ['just beyond it', 4_990, steady, 50, true],
    ['with a smaller percentage sooner', 8_500, steady, 10, true],
    ['not where one week was an outlier: the median leaves it out', 10_000, [...steady.slice(1), 900_000], 50, false],
    ['not where two weeks were holidays', 10_000, [0, 0, ...steady.slice(2)], 50, false],
    [
      'not where the days vary that much anyway',
      2_000,
      [1_000, 9_000, 4_000, 16_000, 7_000, 12_000, 3_000, 15_000],
      50,
      false,
    ],
    [
      'where they vary, and it is further away than that',
      60_000,
      [1_000, 9_000, 4_000, 16_000, 7_000, 12_000, 3_000, 15_000],
      50,
      true,
    ],
    ['not without four weeks of history', 0, [10_000, 10_000, 10_000], 50, false],
    ['with four', 0, [10_000, 10_000, 10_000, 10_000], 50, true],
    ['not where there is usually nothing on this weekday', 50_000, [0, 0, 0, 0, 0, 9_000, 0, 0], 50, false],
    ['not by a hundred records', 20, [120, 120, 120, 120], 50, false],
    ['by more than a hundred', 19, [120, 120, 120, 120], 50, true],
    [
      'not where a slow growth continues',
      15_000,
      [14_500, 14_000, 13_500, 13_000, 12_500, 12_000, 11_500, 11_000],
      20,
      false,
    ],
  ] as const) {
    test(what, () => assert.equal(isVolumeUnusual(day, history, percent), expected))
  }
})
