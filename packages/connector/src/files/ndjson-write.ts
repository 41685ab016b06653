import type { Cell, Row } from '../rows.ts'

/** Text is joined into pieces of this number of characters before it is encoded. */
const pieceLength = 1 << 16

/**
 * Rows as JSON objects, one per line. Null is written as null, so that every line has every column.
 * @param nested by column: whether its texts are JSON, which is written unchanged
 */
export function encodeNdjson(
  columns: readonly string[],
  rows: readonly Row[],
  nested: readonly boolean[] = [],
): Uint8Array {
  const keys = columns.map((name, index) => `${index === 0 ? '' : ','}${JSON.stringify(name)}:`)
  const pieces: Uint8Array[] = []
  let text = ''
  for (const row of rows) {
    text += '{'
    for (let index = 0; index < keys.length; index += 1) {
      const cell = row[index] ?? null
      text += keys[index] + (nested[index] ? nestedOf(cell) : jsonOf(cell))
    }
    text += '}\n'
    if (text.length > pieceLength) {
      pieces.push(Buffer.from(text))
      text = ''
    }
  }
  pieces.push(Buffer.from(text))
  return Buffer.concat(pieces)
}

/** Characters that JSON escapes, and halves of characters, which it escapes if they are not paired. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters.
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/

/**
 * An object or a list of JSON on one line, with all of its digits. Any other JSON stays a text, as which it is read again: `null` would
 * become a missing value, and `"5"` the same as `5`. Invalid JSON stays a text, too.
 */
function nestedOf(cell: Cell): string {
  if (typeof cell !== 'string' || !/^\s*[[{]/.test(cell)) return jsonOf(cell)
  try {
    JSON.parse(cell)
  } catch {
    return jsonOf(cell)
  }
  // Ends of lines are between the parts of JSON, never in a text.
  return cell.replaceAll(/[\r\n]+/g, ' ')
}

/** A cell as JSON; most text needs no escape, and checking this is faster than the general way. */
const jsonOf = (cell: Cell): string =>
  typeof cell === 'string' && !escaped.test(cell) ? `"${cell}"` : JSON.stringify(cell)
