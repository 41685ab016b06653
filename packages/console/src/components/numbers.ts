const whole = new Intl.NumberFormat()
const signed = new Intl.NumberFormat(undefined, { signDisplay: 'exceptZero' })
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** A count in full: `120,000`. */
export const count = (n: number): string => whole.format(n)

/** A change of a count: `+1,200`, `−30`, `0`. */
export const signedCount = (n: number): string => signed.format(n)

/** A count if there is little space: `120K`. */
export const shortCount = (n: number): string => compact.format(n)

/** A size in the unit that suits it: `48 MB`, `0 bytes`. */
export function bytes(n: number): string {
  const step = Math.min(byteUnits.length - 1, n > 0 ? Math.floor(Math.log10(n) / 3) : 0)
  const unit = byteUnits[step] ?? 'byte'
  // Short units are neither singular nor plural, but the smallest is a word.
  const unitDisplay = unit === 'byte' ? 'long' : 'short'
  const format = new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 })
  return format.format(n / 1000 ** step)
}

/** A part of a whole: `99.8 %`. A part that is not all is never shown as all. */
export function percent(part: number): string {
  const shown = part < 1 ? Math.min(part, 0.999) : part
  return new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 }).format(shown)
}
