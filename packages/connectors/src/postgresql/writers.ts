import type { Cell } from '@penstock/connector'
import { withoutOffset } from '../databases/moments.ts'
import type { Write } from '../databases/tab-separated.ts'
import type { TableColumn } from './table.ts'

/** How cells are written for a column. An empty text is missing wherever the column holds no text. */
export function writerFor({ oid, category, type }: TableColumn): Write {
  if (category === 'S') return (cell) => (typeof cell === 'string' ? cell : plain(cell))
  if (type === 'timestamp without time zone') return (cell) => filled(cell, withoutOffset)
  if (oid === 17) return (cell) => filled(cell, bytesOf)
  if (category === 'A') return (cell) => filled(cell, arrayOf)
  return (cell) => filled(cell)
}

const plain = (cell: Cell): string | null => (cell === null ? null : String(cell))

const filled = (cell: Cell, change: (text: string) => string = (text) => text): string | null =>
  typeof cell === 'string' ? (cell === '' ? null : change(cell)) : plain(cell)

/** Bytes travel as base64; what begins with `\x` is hexadecimal already, and what is neither is the text itself. */
const bytesOf = (text: string): string =>
  base64.test(text) ? `\\x${Buffer.from(text, 'base64').toString('hex')}` : text
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** A JSON array in the form of PostgreSQL; anything else as it is. */
function arrayOf(text: string): string {
  if (!text.startsWith('[')) return text
  try {
    return element(JSON.parse(text))
  } catch {
    return text
  }
}

function element(value: unknown): string {
  if (value === null) return 'NULL'
  if (Array.isArray(value)) return `{${value.map(element).join(',')}}`
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
