import type { Cell } from '@penstock/connector'
import type { MappingStep } from './choose-columns.ts'
import { conceptOf, readColumnName } from './column-names.ts'
import { kindOf } from './kinds.ts'

/** Longer values that reveal nothing about a person are cut here. */
const plainLengthMax = 80
/** The form of a longer value ends here. */
const maskLengthMax = 40

/** Whether a column holds what belongs to a person, by its definition or, if there is none, by its names. */
export function isPersonal({ field, definition, column, expression }: MappingStep): boolean {
  if (definition?.values) return false
  if (definition?.hashed || definition?.normalise || definition?.oneOf || definition?.identifiers) return true
  return [field, column?.name ?? field, ...(expression?.columns ?? [])].some(
    (name) => conceptOf(readColumnName(name).subject) !== undefined,
  )
}

/**
 * A value as a preview shows it: enough to recognise its form, and to check what becomes of it, never enough to identify the
 * person. Values that look like identifiers are masked in every column, other values only in personal columns.
 */
export function shorten(value: Cell, personal: boolean): string | null {
  if (value === null) return null
  const text = String(value).trim()
  if (text === '') return ''
  const kind = kindOf(value)
  switch (kind) {
    case 'e-mail':
      return shortenEmail(text)
    case 'hash':
      return `${text.slice(0, 8)}…`
    case 'device':
      return `${text.slice(0, 4)}…`
    case 'phone':
      return text.slice(0, 3) + mask(text.slice(3))
    case 'nested':
      return `${text.slice(0, 1)}…${text.slice(0, 1) === '{' ? '}' : ']'}`
  }
  if (personal) return kind === 'text' ? maskText(text) : mask(text)
  // Long whole numbers are customers, cards and phones; nothing else is so long.
  if (kind === 'number' && /^-?\d{7,}$/.test(text)) return mask(text)
  return text.length > plainLengthMax ? `${text.slice(0, plainLengthMax)}…` : text
}

/** The value of its form only: `##.##.####`, `XX#X #XX`. A longer value ends with …. */
function mask(text: string): string {
  const masked = text
    .slice(0, maskLengthMax)
    .replaceAll(/\p{N}/gu, '#')
    .replaceAll(/\p{Lu}/gu, 'X')
    .replaceAll(/[^\p{P}\p{Z}\s#X]/gu, 'x')
  return text.length > maskLengthMax ? `${masked}…` : masked
}

/** The same with the first letter, if there are at least two more characters. */
function maskText(text: string): string {
  const [first = ''] = text
  return text.length > 2 && /\p{L}/u.test(first) ? first + mask(text.slice(first.length)) : mask(text)
}

/** `j…@e….com`; of a text in which an address only occurs, no more than its first character. */
function shortenEmail(text: string): string {
  const [, local, domain, top] = /^(.)[^\s@]*@(.)[^\s@]*\.([^\s@.]{2,})$/u.exec(text) ?? []
  return local === undefined ? `${firstCharacter(text)}…@…` : `${local}…@${domain}….${top}`
}

/** A whole character, also one beyond the first 65,536. */
const firstCharacter = (text: string): string => String.fromCodePoint(text.codePointAt(0) ?? 0)
