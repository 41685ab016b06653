import type { Cell } from '@penstock/connector'
import { withoutOffset } from '../databases/moments.ts'
import type { TableColumn } from './table.ts'

/** How the cells of a column are written. */
export type Writer = {
  /** The text of a cell; null where it has none. An empty text is missing wherever the column holds no text. */
  readonly text: (cell: Cell) => string | null
  /** The text as it stands in a statement. */
  readonly literal: (text: string) => string
  /** Whether LOAD DATA understands the text as an INSERT does. */
  readonly loadable: boolean
}

const texts = new Set(['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set'])
const times = new Set(['date', 'datetime', 'timestamp'])
const bytes = new Set(['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'])

export function writerFor({ type }: TableColumn): Writer {
  if (texts.has(type)) return { text: plain, literal: quote, loadable: true }
  if (times.has(type)) return { text: (cell) => filled(cell, withoutOffset), literal: quote, loadable: true }
  if (bytes.has(type)) return { text: filled, literal: bytesOf, loadable: false }
  if (type === 'bit') return { text: filled, literal: bitsOf, loadable: false }
  if (type === 'json')
    return { text: (cell) => (typeof cell === 'boolean' ? String(cell) : filled(cell)), literal: quote, loadable: true }
  return { text: filled, literal: quote, loadable: true }
}

const plain = (cell: Cell): string | null => (cell === null ? null : String(cell))

/** Numbers stand for truth here. */
function filled(cell: Cell, change: (text: string) => string = (text) => text): string | null {
  if (typeof cell === 'boolean') return cell ? '1' : '0'
  return typeof cell === 'string' ? (cell === '' ? null : change(cell)) : plain(cell)
}

/** As the session's mode has it: a backslash escapes, whatever the server's own mode is. */
export const quote = (text: string): string =>
  special.test(text) ? `'${text.replace(specials, escapeOne)}'` : `'${text}'`

const special = /['\\\0]/
const specials = /['\\\0]/g
const escapeOne = (character: string): string => (character === '\0' ? '\\0' : `\\${character}`)

/** Bytes come as \\x and hexadecimal digits from PostgreSQL, and as base64; what is neither is the text itself. */
const bytesOf = (text: string): string => (hexadecimal.test(text) ? `x'${text.slice(2)}'` : bytesOfBase64(text))
const hexadecimal = /^\\x(?:[0-9a-f]{2})*$/i
const bytesOfBase64 = (text: string): string =>
  base64.test(text) ? `x'${Buffer.from(text, 'base64').toString('hex')}'` : quote(text)
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** A text would be taken for the bits of its letters. */
const bitsOf = (text: string): string => (/^\d{1,20}$/.test(text) ? text : quote(text))
