import type { Cell, Values } from '@penstock/connector'
import type { Write } from '../databases/tab-separated.ts'
import { withoutOffset } from '../databases/timestamps.ts'
import { arrayTextOf } from './arrays.ts'
import { reasonOf } from './errors.ts'
import { partsProblem, problemFor, problemOfCell, wholeText } from './exact-values.ts'
import type { ColumnType, PostgresColumn } from './table.ts'

/** Settings of a transaction by which the server reads the texts of dates, times, intervals and money as they are meant. */
export const textForms = [
  "set local datestyle = 'ISO, YMD'",
  "set local timezone = 'UTC'",
  "set local intervalstyle = 'postgres'",
  "set local lc_monetary = 'C'",
]

/** How texts are read for a column of bytes. */
export type BytesFormat = 'PostgreSQL' | 'Base64'

export const bytesFormatOf = ({ bytesFormat }: Values): BytesFormat =>
  bytesFormat === 'Base64' ? 'Base64' : 'PostgreSQL'

/** How cells are written for a column. An empty text is missing wherever it is no value of the column's type. */
export type PostgresCellWriter = {
  readonly write: Write
  /**
   * Why the database would store another value than the cell holds, as a sentence without the value; `undefined` if it
   * would not. Values that the database refuses are left to it.
   */
  readonly problemOf?: (cell: Cell) => string | undefined
}

/** Identifiers that PostgreSQL gives its own types, the same in every database. */
const oids = {
  bytea: 17,
  char: 18,
  name: 19,
  bigint: 20,
  smallint: 21,
  integer: 23,
  oid: 26,
  json: 114,
  date: 1082,
  timestamp: 1114,
  jsonb: 3802,
} as const
/** Types of which an empty text is a value: bytea, "char", int2vector, oidvector, xml, varbit, refcursor, tsvector, tsquery. */
const withEmptyText = new Set([17, 18, 22, 30, 142, 1562, 1790, 3614, 3615])
/** And of extensions, which get another identifier in each database. */
const namedWithEmptyText = /(^|\.)"?(hstore|ltree)"?$/

export function writerFor(column: PostgresColumn, bytesFormat: BytesFormat): PostgresCellWriter {
  const { element } = column
  if (!element) return scalarWriter(column, column, bytesFormat)
  const inner = scalarWriter(element, column, bytesFormat)
  const write: Write = (cell) => filled(cell, (text) => arrayTextOf(text, inner, isJson(element)) ?? text)
  return { write, problemOf: (cell) => arrayProblem(cell, inner, isJson(element)) }
}

const isJson = ({ oid }: ColumnType): boolean => oid === oids.json || oid === oids.jsonb

/** @param of the column itself, or of its elements */
function scalarWriter(of: ColumnType, column: PostgresColumn, bytesFormat: BytesFormat): PostgresCellWriter {
  const { oid, category, type, emptyLabel } = of
  const problem = problemFor(oid, column)
  const judged = problem && { problemOf: problemOfCell(problem) }
  switch (oid) {
    case oids.name:
      // The type cuts silently.
      return { write: plain, problemOf: (cell) => (bytesOf(cell) > 63 ? reasonOf('22001') : undefined) }
    case oids.char:
      return { write: plain, problemOf: (cell) => (isOneByte(cell) ? undefined : reasonOf('22001')) }
    case oids.date:
      return { ...judged, write: (cell) => filled(cell, dayOf) }
    case oids.timestamp:
      return { ...judged, write: (cell) => filled(cell, withoutOffset) }
    case oids.smallint:
    case oids.integer:
    case oids.bigint:
    case oids.oid:
      return { ...judged, write: (cell) => (typeof cell === 'string' ? filled(cell, wholeText) : plain(cell)) }
    case oids.bytea:
      return bytesFormat === 'Base64' ? fromBase64 : fromBytesText
  }
  const keepsEmpty = category === 'S' || emptyLabel || withEmptyText.has(oid) || namedWithEmptyText.test(type)
  return { ...judged, write: keepsEmpty ? plain : (cell) => filled(cell) }
}

export const halfCharacter = 'A text has half of a character (a lone surrogate), which cannot be stored.'

const plain = (cell: Cell): string | null =>
  typeof cell === 'string' ? cell : cell === null ? null : Object.is(cell, -0) ? '-0' : String(cell)

const filled = (cell: Cell, change: (text: string) => string = (text) => text): string | null =>
  typeof cell === 'string' ? (cell === '' ? null : change(cell)) : plain(cell)

const bytesOf = (cell: Cell): number => (cell === null ? 0 : Buffer.byteLength(String(cell)))

/** One byte, or none, or one in octal digits, which is how those beyond ASCII are shown. */
const isOneByte = (cell: Cell): boolean => bytesOf(cell) <= 1 || /^\\[0-3][0-7]{2}$/.test(String(cell))

/** A day with midnight is the day. */
const dayOf = (text: string): string => withoutOffset(text).replace(/[T ]00:00(?::00(?:\.0+)?)?(?= BC$|$)/, '')

function arrayProblem(cell: Cell, inner: PostgresCellWriter, isJsonArray: boolean): string | undefined {
  if (typeof cell !== 'string' || !inner.problemOf) return undefined
  // PostgreSQL's own text of an array, which the server reads.
  if (!/^\s*\[(?![\d:\][-]*=)/.test(cell)) return partsProblem(cell, inner.problemOf)
  let problem: string | undefined
  const { write, problemOf } = inner
  const watched: Write = (element) => {
    problem ??= problemOf(element)
    return write(element)
  }
  arrayTextOf(cell, { write: watched }, isJsonArray)
  return problem
}

const hexadecimal = /^\\x(?:[0-9a-fA-F]{2})*$/
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const toHexadecimal = (text: string, encoding: BufferEncoding): string =>
  `\\x${Buffer.from(text, encoding).toString('hex')}`

/** `\x` and hexadecimal digits, as PostgreSQL shows bytes, are these; any other text is its own bytes in UTF-8. */
const fromBytesText: PostgresCellWriter = {
  write(cell) {
    const text = plain(cell)
    return text === null || hexadecimal.test(text) ? text : toHexadecimal(text, 'utf8')
  },
  problemOf(cell) {
    if (typeof cell !== 'string') return undefined
    // As digits it would not be noticed any more.
    if (!cell.isWellFormed()) return halfCharacter
    // In PostgreSQL a backslash begins an octal number, elsewhere it is one: what was meant cannot be known.
    return cell.includes('\\') && !hexadecimal.test(cell)
      ? 'A text for bytes has a backslash but is not \\x and pairs of hexadecimal digits; write all of it so.'
      : undefined
  },
}

const fromBase64: PostgresCellWriter = {
  write(cell) {
    const text = plain(cell)
    return text === null || hexadecimal.test(text) ? text : toHexadecimal(text, 'base64')
  },
  problemOf: (cell) =>
    cell === null || base64.test(String(cell)) || hexadecimal.test(String(cell))
      ? undefined
      : 'A text for bytes is not Base64, which the setting Bytes format requires.',
}
