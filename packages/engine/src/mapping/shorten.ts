import type { Cell } from '@penstock/connector'
import type { MappingStep } from './choose-columns.ts'
import { conceptOf, readColumnName } from './column-names.ts'
import { kindOf } from './kinds.ts'

/** Longer values that reveal nothing about a person are cut here. */
const plainLengthMax = 80
/** Values that are shown whole are cut to this length. */
const wholeLengthMax = 200
/** The form of a longer value ends here. */
const maskLengthMax = 40
/** Maximum number of consecutive letters and digits that a form shows; for more, it only shows that there are more. */
const lettersMax = 4
const digitsMax = 8
const longRuns = new RegExp(`([Xx]{${lettersMax}})[Xx]+|(#{${digitsMax}})#+`, 'g')

/**
 * How values are shown: `whole`, or `masked`, which keeps no character of a value that can identify a person. The service chooses
 * according to the caller (`seesWhole` in its module of access).
 */
export type Showing = 'whole' | 'masked'

/** Whether a column contains personal data, judged by its definition or, without a definition, by its names. */
export function isPersonal({ field, definition, column, expression }: MappingStep): boolean {
  if (definition?.values) return false
  if (definition?.hashed || definition?.normalise || definition?.oneOf || definition?.identifiers) return true
  return [field, column?.name ?? field, ...(expression?.columns ?? [])].some(
    (name) => isNameOfPerson(name) || isNameOfPerson(name.slice(name.lastIndexOf('.') + 1)),
  )
}

/** Names of nested keys have dots: `traits.email`. */
const isNameOfPerson = (name: string): boolean => conceptOf(readColumnName(name).subject) !== undefined

/**
 * A value as a preview shows it. A masked value is enough to recognise its form and to check how it is mapped. Values that look
 * like identifiers are masked in every column, other values only in personal columns.
 */
export function shorten(value: Cell, personal: boolean, showing: Showing = 'masked'): string | null {
  if (value === null) return null
  if (showing === 'whole') return cut(String(value), wholeLengthMax)
  const text = String(value).trim()
  if (text === '') return ''
  const kind = kindOf(value)
  switch (kind) {
    case 'e-mail':
    case 'phone':
      return mask(text)
    case 'hash':
      return 'xxxxxxxx…'
    case 'device':
      return 'xxxxxxxx-xxxx-…'
    case 'nested':
      return `${text.slice(0, 1)}…${text.slice(0, 1) === '{' ? '}' : ']'}`
  }
  if (personal) return mask(text)
  // Long whole numbers identify customers, cards and phones. No other numbers are this long.
  if (kind === 'number' && /^-?\d{7,}$/.test(text)) return mask(text)
  return cut(text, plainLengthMax)
}

/** Drops half of a character at the end. */
const cut = (text: string, lengthMax: number): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '')}…` : text

/** Only the form of a value: `##.##.####`, `XX#X #XX`, `xxx@xxxx….xxx`. Longer words, numbers and values end with …. */
function mask(text: string): string {
  const masked = text
    .slice(0, maskLengthMax)
    .replaceAll(/\p{N}/gu, '#')
    .replaceAll(/\p{Lu}/gu, 'X')
    .replaceAll(/[^\p{P}\p{Z}\s#X+]/gu, 'x')
    .replaceAll(longRuns, '$1$2…')
  return text.length > maskLengthMax && !masked.endsWith('…') ? `${masked}…` : masked
}
