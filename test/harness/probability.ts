/** The probability that a value of `second` is greater than a value of `first`. Ties count half. */
export function probabilityOfMore(first: readonly number[], second: readonly number[]): number {
  const all = [...first.map((value) => ({ value, of: 0 })), ...second.map((value) => ({ value, of: 1 }))]
  all.sort((one, other) => one.value - other.value)
  let ranks = 0
  for (const [index, { of }] of all.entries()) if (of === 1) ranks += index + 1
  return (ranks - (second.length * (second.length + 1)) / 2) / (first.length * second.length)
}
