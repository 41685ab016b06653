import type { Cell, Row } from '@penstock/connector'

/**
 * The text format of PostgreSQL's COPY, which LOAD DATA reads as well: a line a row, tabs between fields, `\N` for null, and
 * a backslash before what would be misread.
 */

const sliceBytes = 256 * 1024

/** How a cell is written for a column. */
export type Write = (cell: Cell) => string | null

/**
 * Rows in this format, in slices of about 256 KiB, made when they are asked for.
 * @param writers one for each cell
 * @param picked indexes of the rows that go; all of them where it is absent
 * @param numbered whether the row's index goes before its cells
 */
export function* encodeRows(
  rows: readonly Row[],
  writers: readonly Write[],
  { picked, numbered = false }: { picked?: readonly number[]; numbered?: boolean } = {},
): Generator<Buffer> {
  const count = picked ? picked.length : rows.length
  let text = ''
  for (let at = 0; at < count; at += 1) {
    const index = picked ? (picked[at] ?? 0) : at
    const row = rows[index] ?? []
    if (numbered) text += `${index}\t`
    for (let column = 0; column < writers.length; column += 1) {
      if (column > 0) text += '\t'
      const value = writers[column]?.(row[column] ?? null) ?? null
      text += value === null ? '\\N' : escaped.test(value) ? value.replace(escapedAll, escapeOne) : value
    }
    text += '\n'
    if (text.length >= sliceBytes) {
      yield Buffer.from(text)
      text = ''
    }
  }
  if (text !== '') yield Buffer.from(text)
}

const escaped = /[\\\t\n\r]/
const escapedAll = /[\\\t\n\r]/g
const escapeOne = (character: string): string =>
  character === '\t' ? '\\t' : character === '\n' ? '\\n' : character === '\r' ? '\\r' : '\\\\'

/** The fields of a line of COPY … TO STDOUT; null for `\N`. */
export function decodeLine(line: string): (string | null)[] {
  const fields: (string | null)[] = (line.endsWith('\n') ? line.slice(0, -1) : line).split('\t')
  if (!line.includes('\\')) return fields
  return fields.map((field) =>
    field === '\\N'
      ? null
      : field?.includes('\\')
        ? field.replace(/\\(.)/gs, (_, character) => meant(character))
        : field,
  )
}

const unescapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }
const meant = (character: string): string => unescapes[character] ?? character
