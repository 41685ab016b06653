import type { Cell } from '@penstock/connector'
import { toNormalForm } from '@penstock/wire/rules'

/** Most keys: they are as short as they can be, and no letter or sign of theirs has another form. */
const plain = /^(?:0|[1-9]\d{0,17})$/
const decimal = /^[+-]?\d+(?:\.\d*)?$/
const marks = /\p{M}+/gu

/**
 * A cell of a key in the form that is the same for values that a destination may take for the same key: letter case, accents, spaces
 * around it, and zeros that mean nothing, do not count. A rejected record is superseded by a later one whose key differs in no other way.
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
