import { ConnectorError } from '../connector-error.ts'
import type { StoredFile } from './store.ts'

const codes = { quote: 0x22, backslash: 0x5c, comma: 0x2c, newline: 0x0a, carriageReturn: 0x0d, space: 0x20 }
const opens = new Set([0x5b, 0x7b])
const closes = new Set([0x5d, 0x7d])

/**
 * Creates lines from JSON objects in an array, or from JSON objects over several lines: a comma between two elements becomes the
 * end of a line, line breaks within an element and the brackets around all of them become spaces. Every byte keeps its offset, so
 * that places in the lines are places in the file.
 * @param layout the layout of the file
 * @param begun whether the bytes begin after a line, and so within the array
 * @throws a `ConnectorError`, `invalid_file`, if the array is not closed
 */
export async function* jsonLines(
  file: StoredFile,
  source: AsyncIterable<Uint8Array>,
  layout: 'JSON array' | 'JSON objects',
  begun: boolean,
): AsyncGenerator<Uint8Array> {
  const base = layout === 'JSON array' ? 1 : 0
  let depth = begun ? base : 0
  let quoted = false
  let escaped = false
  let closed = false
  let isEmpty = true
  for await (const piece of source) {
    const bytes = Buffer.from(piece)
    isEmpty &&= bytes.length === 0
    for (let at = 0; at < bytes.length; at += 1) {
      const code = bytes[at] as number
      if (quoted) {
        if (escaped) escaped = false
        else if (code === codes.backslash) escaped = true
        else if (code === codes.quote) quoted = false
        // A JSON string cannot contain a line break: only the row with the line break is an error.
        else if (code === codes.newline) bytes[at] = codes.space
      } else if (code === codes.quote) quoted = true
      else if (opens.has(code)) {
        if (depth === 0 && base === 1 && !closed) bytes[at] = codes.space
        depth += 1
      } else if (closes.has(code)) {
        depth = Math.max(0, depth - 1)
        if (depth === 0 && base === 1 && !closed) {
          bytes[at] = codes.space
          closed = true
        }
      } else if (code === codes.comma && depth === base && base === 1) bytes[at] = codes.newline
      else if ((code === codes.newline || code === codes.carriageReturn) && depth >= base && depth + base > 0) {
        bytes[at] = codes.space
      }
    }
    yield bytes
  }
  // Nothing follows the last row, not even the bracket.
  if (base === 1 && !closed && !(begun && isEmpty)) {
    const message = `${file.name} ends before its JSON array does, so rows are missing. Write the file again.`
    throw new ConnectorError('invalid_file', message)
  }
}
