import { asConnectorError } from '@penstock/connector'
import type { SnowflakeColumn } from './cells.ts'

/** Why the INSERT of a row would fail although its values can be read. */
export function misfitOf(columns: readonly SnowflakeColumn[], values: readonly unknown[]): string | undefined {
  for (const [at, { type, isRequired, length, precision, scale }] of columns.entries()) {
    const text = (values[at] ?? null) as string | null
    if (text === null) {
      if (isRequired) return reasons['100072']
    } else if (type === 'TEXT' && length !== undefined && [...text].length > length) {
      return reasons['100078']
    } else if (type === 'FIXED' && precision !== undefined && wholeDigits(text) > precision - scale) {
      return reasons['100039']
    }
  }
  return undefined
}

/** How many digits a number has before its point. */
function wholeDigits(text: string): number {
  const [, whole = '', fraction = '', exponent = '0'] = /^\s*[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?\s*$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '').length
  return digits === 0 ? 0 : digits - fraction.length + Number(exponent)
}

/** Why a statement failed because of a row. `undefined` if it failed for another reason. */
export function refusalIn(error: unknown): string | undefined {
  const connectorError = asConnectorError(error)
  if (connectorError?.code !== 'statement_failed') return undefined
  const [, codes = 'without a code', code = ''] =
    /\(((?:code (\d{3,8}))?[^()]{0,60})\)/.exec(connectorError.message) ?? []
  return `${reasons[code] ?? 'Snowflake cannot write a value of the row.'} (${codes})`.replace(/\. \((.*)\)$/, ' ($1).')
}

const reasons: Readonly<Record<string, string>> = {
  '100035': 'A value is not a valid time.',
  '100037': 'A value is not true or false, as the column requires.',
  '100038': 'A value is not a number.',
  '100039': 'A number is too large for the column.',
  '100040': 'A value is not a valid date.',
  '100069': 'A value is not JSON, which the column requires.',
  '100072': 'There is no value for a column that needs one.',
  '100078': 'A text is too long for the column.',
}
