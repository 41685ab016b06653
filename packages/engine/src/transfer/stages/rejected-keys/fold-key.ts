import type { Cell } from '@penstock/connector'
import { toNormalForm } from '@penstock/wire/rules'

/** Most keys have no other form: they are as short as possible and contain no letters. */
const plain = /^(?:0|[1-9]\d{0,17})$/
const decimal = /^[+-]?\d+(?:\.\d*)?$/
const marks = /\p{M}+/gu

/**
 * A cell of a key in a form that is the same for values that a destination may treat as the same key: it ignores letter case,
 * accents, surrounding spaces and zeros without meaning. A later record supersedes a rejected record if their keys differ only in
 * these.
 * @returns text; `null` for a cell without a value
 */
export function foldKey(cell: Cell): string | null {
  if (cell === null) return null
  const text = String(cell)
  if (plain.test(text)) return text
  const folded = toNormalForm(text, 'NFKD').replace(marks, '').toUpperCase().toLowerCase().trim()
  return decimal.test(folded) ? foldDecimal(folded) : folded
}

function foldDecimal(text: string): string {
  const [whole = '', fraction = ''] = text.replace(/^[+-]/, '').split('.')
  const digits = whole.replace(/^0+(?=\d)/, '')
  const rest = fraction.replace(/0+$/, '')
  const number = rest === '' ? digits : `${digits}.${rest}`
  return text.startsWith('-') && number !== '0' ? `-${number}` : number
}
