import type { Cell } from '@penstock/connector'
import { withoutOffset } from '../databases/timestamps.ts'
import { type Doubt, doubtFor, isHexadecimal } from './exact-values.ts'
import type { MysqlColumn } from './table.ts'

/** How the cells of a column are written. */
export type MysqlCellWriter = {
  /** The text of a cell; null if it has none. An empty text is missing wherever the column holds no text and no bytes. */
  readonly text: (cell: Cell) => string | null
  /** The text as a literal of a statement. */
  readonly literal: (text: string) => string
  /** Whether LOAD DATA understands the text as an INSERT does. */
  readonly loadable: boolean
  /** Why the column would not store exactly this text, as a sentence without the value; `undefined` if it would. */
  readonly doubt: Doubt
}

const texts = new Set(['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set'])
const times = new Set(['date', 'datetime', 'timestamp'])
const bytes = new Set(['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'])

export function writerFor(column: MysqlColumn): MysqlCellWriter {
  const { type } = column
  const writer = { literal: quote, loadable: true, doubt: doubtFor(column) }
  if (texts.has(type)) return { ...writer, text: plain }
  if (times.has(type)) return { ...writer, text: (cell) => filled(cell, withoutOffset) }
  if (bytes.has(type)) return { ...writer, text: plain, literal: bytesOf, loadable: false }
  if (type === 'bit') return { ...writer, text: filled, literal: (text) => text, loadable: false }
  // A zero of one digit would be the year 2000.
  if (type === 'year') return { ...writer, text: (cell) => filled(cell, (text) => (text === '0' ? '0000' : text)) }
  if (type === 'json') return { ...writer, text: (cell) => (typeof cell === 'boolean' ? String(cell) : filled(cell)) }
  if (column.truth) return { ...writer, text: (cell) => filled(cell, truth) }
  return { ...writer, text: filled }
}

/** The server stores BOOLEAN as numbers, and files have texts. Other columns of numbers reject these words. */
const truth = (text: string): string => (text === 'true' ? '1' : text === 'false' ? '0' : text)

const plain = (cell: Cell): string | null => (cell === null ? null : String(cell))

/** Numbers stand for truth here. */
function filled(cell: Cell, change: (text: string) => string = (text) => text): string | null {
  if (cell === null || cell === '') return null
  if (typeof cell === 'boolean') return cell ? '1' : '0'
  return change(Object.is(cell, -0) ? '-0' : String(cell))
}

/** As the session's mode has it: a backslash escapes, whatever the server's own mode is. */
const quote = (text: string): string => (special.test(text) ? `'${text.replace(specials, escapeOne)}'` : `'${text}'`)

const special = /['\\\0]/
const specials = /['\\\0]/g
const escapeOne = (character: string): string => (character === '\0' ? '\\0' : `\\${character}`)

/** Bytes come as base64, or as PostgreSQL gives them: \\x and hexadecimal digits. */
const bytesOf = (text: string): string =>
  isHexadecimal(text) ? `x'${text.slice(2)}'` : `x'${Buffer.from(text, 'base64').toString('hex')}'`
