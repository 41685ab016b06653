import type { Cell, Row } from '../rows.ts'
import { plainWriter } from './plain-text.ts'

/** All rows are written into this buffer and then copied, because a new buffer for each batch would become garbage. */
const scratch = Buffer.allocUnsafeSlow(1 << 20)

/**
 * Rows as CSV (RFC 4180) in UTF-8: ends of lines are CRLF, null is an empty cell, empty text is `""`. Text that begins like a
 * formula of a spreadsheet is not changed, because the file is data for programs. In a file with one column, null is written as
 * empty text, because its row would be an empty line otherwise.
 */
export function encodeCsv(rows: readonly Row[]): Uint8Array {
  const blocks: Uint8Array[] = []
  let block = scratch
  let at = 0
  for (const row of rows) {
    for (let index = 0; index < row.length; index += 1) {
      const cell = row[index] ?? null
      const text = typeof cell === 'string' ? cell : textOf(cell)
      // A character needs at most three bytes, and a doubled quote two.
      const bytesMax = text.length * 3 + 5
      if (at + bytesMax > block.length) {
        blocks.push(Buffer.from(block.subarray(0, at)))
        block = bytesMax > scratch.length ? Buffer.allocUnsafe(bytesMax) : scratch
        at = 0
      }
      if (cell !== null || row.length === 1) {
        const end = text === '' ? -1 : writePlain(block, at, text)
        at = end === -1 ? at + block.write(quoted(text), at) : end
      }
      block[at] = 44
      at += 1
    }
    // The end of the line replaces the comma after the last cell.
    block[at - 1] = 13
    block[at] = 10
    at += 1
  }
  blocks.push(block.subarray(0, at))
  return Buffer.concat(blocks)
}

const textOf = (cell: Exclude<Cell, string>): string => (cell === null ? '' : String(cell))

const writePlain = plainWriter('",\r\n')
const special = /[",\r\n]/

const quoted = (text: string): string => (text === '' || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
