/** Amounts of money as whole numbers of millionths, which are exact for every currency. */

const microDigits = 6

/** The form of an amount, in a sentence. */
export const amountWanted =
  'The amount must be a number with a point, such as 12.50, without a sign and with at most 6 decimals.'

/** The millionths of an amount, such as 12500000 of 12.50. `undefined` if the text is not an amount. */
export function microsOf(text: string): bigint | undefined {
  const [, whole, decimals = ''] = /^(\d{1,12})(?:\.(\d{1,6})0*)?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole + decimals.padEnd(microDigits, '0'))
}

/** An amount in words: 12.5 of 12500000. */
export function amountOf(micros: bigint): string {
  const digits = String(micros).padStart(microDigits + 1, '0')
  const decimals = digits.slice(-microDigits).replace(/0+$/, '')
  return digits.slice(0, -microDigits) + (decimals === '' ? '' : `.${decimals}`)
}

/**
 * The same amount in the smallest units of a platform. `undefined` if it is not a whole number of them.
 * @param digits decimals of a unit of the currency: 2 if a unit has 100 parts
 */
export function unitsOf(micros: bigint, digits: number): bigint | undefined {
  const inUnit = 10n ** BigInt(microDigits - digits)
  return micros % inUnit === 0n ? micros / inUnit : undefined
}

/**
 * The millionths of an amount in the smallest units of a platform, as it returns them. `undefined` if it is not such an amount.
 */
export function microsOfUnits(units: unknown, digits: number): bigint | undefined {
  const text = String(units ?? '')
  return /^\d{1,18}$/.test(text) ? BigInt(text) * 10n ** BigInt(microDigits - digits) : undefined
}
