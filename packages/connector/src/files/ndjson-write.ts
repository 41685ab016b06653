import type { Cell, Row } from '../rows.ts'

/** Text is put together in pieces of so many characters before it becomes bytes. */
const pieceLength = 1 << 16

/** Rows as JSON objects, one a line; null is written as null, so that every line has every column. */
export function encodeNdjson(columns: readonly string[], rows: readonly Row[]): Uint8Array {
  const keys = columns.map((name, index) => `${index === 0 ? '' : ','}${JSON.stringify(name)}:`)
  const pieces: Uint8Array[] = []
  let text = ''
  for (const row of rows) {
    text += '{'
    for (let index = 0; index < keys.length; index += 1) text += keys[index] + jsonOf(row[index] ?? null)
    text += '}\n'
    if (text.length > pieceLength) {
      pieces.push(Buffer.from(text))
      text = ''
    }
  }
  pieces.push(Buffer.from(text))
  return Buffer.concat(pieces)
}

/** What JSON escapes, and parts of characters, which it escapes where they stand alone. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters.
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/

/** A cell as JSON; most text needs no escape, and a look at it is faster than the general way. */
const jsonOf = (cell: Cell): string =>
  typeof cell === 'string' && !escaped.test(cell) ? `"${cell}"` : JSON.stringify(cell)
