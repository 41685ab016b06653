/** Random choices that a seed repeats. */
export type Random = {
  /** A whole number from 0 to below `below`. */
  int(below: number): number
  /** True with this probability in percent. */
  percent(chance: number): boolean
  pick<T>(choices: readonly [T, ...T[]]): T
  /** One of the choices. Undefined if there are none. */
  any<T>(choices: readonly T[]): T | undefined
  /** Some of the choices, in their order. */
  some<T>(choices: readonly T[], chance: number): T[]
}

/** Mulberry32: small, and good enough to wander about. */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const random: Random = {
    int: (below) => Math.floor(next() * below),
    percent: (chance) => next() * 100 < chance,
    pick: (choices) => choices[Math.floor(next() * choices.length)] ?? choices[0],
    any: (choices) => choices[Math.floor(next() * choices.length)],
    some: (choices, chance) => choices.filter(() => random.percent(chance)),
  }
  return random
}
