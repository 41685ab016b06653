import { ConnectorError } from '../connector-error.ts'
import type { StoredFile } from './store.ts'

const codes = { quote: 0x22, backslash: 0x5c, comma: 0x2c, newline: 0x0a, carriageReturn: 0x0d, space: 0x20 }
const opens = new Set([0x5b, 0x7b])
const closes = new Set([0x5d, 0x7d])

/**
 * Makes lines of JSON objects that stand in an array, or that go over several lines: a comma between two elements becomes the end of a
 * line, line breaks within an element and the brackets around all of them become spaces. Every byte stays at its place, so that
 * places in the lines are places in the file.
 * @param layout what the file is
 * @param begun whether the bytes begin behind a line that was made, and so within the array
 * @throws a `ConnectorError`, `invalid_file`, where the array is not closed
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
        // No string of JSON has a line break: the row that has one is at error, and only that.
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
  // Behind the last row there is nothing more, the bracket included.
  if (base === 1 && !closed && !(begun && isEmpty)) {
    const message = `${file.name} ends within its JSON array, so rows are missing. Write the file again.`
    throw new ConnectorError('invalid_file', message)
  }
}
