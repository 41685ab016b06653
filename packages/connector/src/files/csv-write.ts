import type { Cell, Row } from '../rows.ts'

/** Rows are written into blocks of so many bytes, so that no array is copied again and again as it grows. */
const blockBytes = 1 << 20

/**
 * Rows as CSV (RFC 4180) in UTF-8: ends of lines are CRLF, null is nothing, empty text is `""`. Text that begins like a
 * formula of a spreadsheet stays as it is, because what is written is data for programs. In a file with one column null
 * is written as empty text, lest its row be an empty line.
 */
export function encodeCsv(rows: readonly Row[]): Uint8Array {
  const blocks: Uint8Array[] = []
  let block = Buffer.allocUnsafe(blockBytes)
  let at = 0
  for (const row of rows) {
    for (let index = 0; index < row.length; index += 1) {
      const cell = row[index] ?? null
      const text = typeof cell === 'string' ? cell : textOf(cell)
      // A character takes three bytes at most, and a quote takes two and is one of two characters then.
      const bytesMax = text.length * 3 + 5
      if (at + bytesMax > block.length) {
        blocks.push(block.subarray(0, at))
        block = Buffer.allocUnsafe(Math.max(blockBytes, bytesMax))
        at = 0
      }
      if (cell !== null || row.length === 1) {
        const end = writePlain(block, at, text)
        at = end === -1 ? at + block.write(quoted(text), at) : end
      }
      block[at] = 44
      at += 1
    }
    // The comma behind the last cell gives way to the end of the line.
    block[at - 1] = 13
    block[at] = 10
    at += 1
  }
  blocks.push(block.subarray(0, at))
  return blocks.length === 1 && blocks[0] ? blocks[0] : Buffer.concat(blocks)
}

const textOf = (cell: Exclude<Cell, string>): string => (cell === null ? '' : String(cell))

/** Longer texts are looked at and written in one call each; for shorter ones the calls cost more than the characters. */
const singlyMax = 20
const notPlain = /[",\r\n\x80-\uffff]/

/** Writes text that is ASCII and needs no quotes, as nearly all is. @returns where it ends; -1: it is no such text */
function writePlain(block: Buffer, at: number, text: string): number {
  const { length } = text
  if (length === 0) return -1
  if (length > singlyMax) return notPlain.test(text) ? -1 : at + block.write(text, at, 'latin1')
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index)
    if (code > 127 || code === 34 || code === 44 || code === 10 || code === 13) return -1
    block[at + index] = code
  }
  return at + length
}

const special = /[",\r\n]/

const quoted = (text: string): string => (text === '' || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
