import type { Row } from '../rows.ts'

/** Rows as JSON objects, one a line; null is written as null, so that every line has every column. */
export function encodeNdjson(columns: readonly string[], rows: readonly Row[]): Uint8Array {
  const keys = columns.map((name, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  const lines = rows.map((row) => {
    let line = ''
    for (let index = 0; index < keys.length; index += 1) line += keys[index] + JSON.stringify(row[index] ?? null)
    return `${line}}\n`
  })
  return Buffer.from(lines.join(''))
}
