import type { Cell, Row } from '@penstock/connector'
import { plainWriter } from '@penstock/connector/files'

/**
 * The text format of PostgreSQL's COPY, which LOAD DATA reads as well: a line a row, tabs between fields, `\N` for null, and
 * a backslash before what would be misread.
 */

/** About how much a slice has. */
export const sliceBytes = 256 * 1024

/** A text has half of a character (a lone surrogate), which UTF-8 cannot write. */
export class HalfCharacter extends Error {
  override readonly name = 'HalfCharacter'
}

/** How a cell is written for a column. */
export type Write = (cell: Cell) => string | null

/**
 * Encodes rows in this format, in slices of about 256 KiB, when the caller asks for the next slice. Throws a
 * `HalfCharacter` if a text contains one. Only texts beyond ASCII, which are few, are checked for it.
 * @param writers one for each cell
 * @param picked indexes of the rows to encode; by default all
 * @param numbered whether the row's index goes before its cells
 */
export function* encodeRows(
  rows: readonly Row[],
  writers: readonly Write[],
  { picked, numbered = false }: { picked?: readonly number[]; numbered?: boolean } = {},
): Generator<Buffer> {
  const count = picked ? picked.length : rows.length
  let block = Buffer.allocUnsafe(sliceBytes)
  let at = 0
  for (let next = 0; next < count; next += 1) {
    const index = picked ? (picked[next] ?? 0) : next
    const row = rows[index] ?? []
    if (numbered) at += block.write(`${index}\t`, at, 'latin1')
    for (let column = 0; column < writers.length; column += 1) {
      const text = writers[column]?.(row[column] ?? null) ?? null
      // A character takes three bytes at most; an escaped one takes two.
      const bytesMax = (text?.length ?? 0) * 3 + reserveBytes
      if (at + bytesMax > block.length) {
        yield block.subarray(0, at)
        block = Buffer.allocUnsafe(Math.max(sliceBytes, bytesMax))
        at = 0
      }
      at = writeText(block, at, text)
      block[at] = 9
      at += 1
    }
    // The tab behind the last field gives way to the end of the line.
    block[at - 1] = 10
  }
  if (at > 0) yield block.subarray(0, at)
}

/** Writes the text of a field, `null` as `\N`, and returns the offset behind it. The block must have room: three bytes for each character. */
export function writeText(block: Buffer, at: number, text: string | null): number {
  if (text === null) return at + block.write('\\N', at, 'latin1')
  const end = writePlain(block, at, text)
  return end === -1 ? at + writeTreated(block, at, text) : end
}

function writeTreated(block: Buffer, at: number, text: string): number {
  if (!text.isWellFormed()) throw new HalfCharacter()
  return block.write(text.replace(escaped, escapeOne), at)
}

const writePlain = plainWriter('\\\t\n\r')
/** Bytes beside a field: what ends it, and the number before the next row. */
export const reserveBytes = 32
const escaped = /[\\\t\n\r]/g
const escapeOne = (character: string): string =>
  character === '\t' ? '\\t' : character === '\n' ? '\\n' : character === '\r' ? '\\r' : '\\\\'

/** The fields of a line of COPY … TO STDOUT; null for `\N`. */
export function decodeLine(line: string): (string | null)[] {
  const fields: (string | null)[] = (line.endsWith('\n') ? line.slice(0, -1) : line).split('\t')
  if (!line.includes('\\')) return fields
  return fields.map((field) => (field === '\\N' ? null : field?.includes('\\') ? unescaped(field) : field))
}

/** The value of a field with backslashes that is not null. */
export const unescaped = (field: string): string => field.replace(/\\(.)/gs, (_, character) => meant(character))

const unescapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }
const meant = (character: string): string => unescapes[character] ?? character
