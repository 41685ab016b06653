/** The number with the fewest digits that a floating-point column of 32 bits takes for this one, which is such a number. */
export function shortest(number: number): number {
  // Whatever has six digits differs from all others, except near zero.
  for (let digits = Math.abs(number) < smallestNormal ? 1 : 6; digits < 9; digits += 1) {
    const rounded = Number(number.toPrecision(digits))
    if (Math.fround(rounded) === number) return rounded
  }
  return Number(number.toPrecision(9))
}

const smallestNormal = 2 ** -126
