import { type CsvDialect, parseCsv } from './csv-parse.ts'

/** By how often text contains them: if several delimiters explain the rows equally well, the last one wins. */
const delimiters = { comma: ',', semicolon: ';', pipe: '|', tab: '\t' } as const

/**
 * How a CSV file is written, by how it begins.
 * @param start some of its first characters
 * @param chosen the name of a delimiter, any other character, or `auto`
 */
export function dialectOf(start: string, chosen = 'auto'): CsvDialect {
  const newline = newlineOf(start)
  if (chosen !== 'auto' && chosen !== '') {
    const named = Object.entries(delimiters).find(([name]) => name === chosen)
    return { delimiter: named?.[1] ?? chosen[0] ?? ',', newline }
  }
  let best: { delimiter: string; score: number } = { delimiter: ',', score: 0 }
  for (const delimiter of Object.values(delimiters)) {
    const score = scoreOf(start, { delimiter, newline })
    if (score > 0 && score >= best.score) best = { delimiter, score }
  }
  return { delimiter: best.delimiter, newline }
}

const sampleRows = 50

/**
 * How well a delimiter explains the first rows: the number of rows with the same number of cells as the header, then the number
 * of cells. A character before a space belongs to a text: `last, first`.
 */
function scoreOf(start: string, dialect: CsvDialect): number {
  const { rows } = parseCsv(start, dialect, 0, false, sampleRows)
  const sample = rows.length > 0 ? rows : parseCsv(start, dialect, 0, true, sampleRows).rows
  const width = sample[0]?.length ?? 0
  if (width < 2) return 0
  const alike = sample.filter((row) => row.length === width).length
  const cells = sample.flatMap((row) => row.slice(1))
  const spaced = cells.filter((cell) => typeof cell === 'string' && cell.startsWith(' ')).length
  return (alike / sample.length) * (1 - spaced / Math.max(1, cells.length) / 2) + width / 1e6
}

/** The first end of a line that is not in quotes. */
function newlineOf(start: string): '\n' | '\r' {
  let quoted = false
  for (let at = 0; at < start.length; at += 1) {
    const character = start[at]
    if (character === '"') quoted = !quoted
    else if (!quoted && character === '\n') return '\n'
    else if (!quoted && character === '\r') return start[at + 1] === '\n' || at + 1 === start.length ? '\n' : '\r'
  }
  return '\n'
}
