import { asTyped } from '../own-command.ts'

/** Output of commands: JSON for programs, words and tables for people. */

export function print(value: unknown, json: boolean | undefined, words: string): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : `${asTyped(words)}\n`)
}

/** A text of another system for a terminal, which would obey control characters in it. */
export const printable = (text: string): string =>
  text.replace(/[^\P{Cc}\n]|\p{Cf}/gu, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)

/** Writes a sentence for the operator to standard error: a failure, or a note. */
export const tell = (sentence: string): void => void process.stderr.write(`penstock: ${asTyped(sentence)}\n`)

/** Prints a list of like objects: a JSON array, or a table with a column for each key. */
export function printTable(
  list: readonly Readonly<Record<string, unknown>>[],
  json: boolean | undefined,
  empty: string,
): void {
  print(list, json, list.length === 0 ? empty : table(list))
}

function table(list: readonly Readonly<Record<string, unknown>>[]): string {
  const columns = Object.keys(list[0] ?? {})
  const cell = (value: unknown) => (value === null ? '-' : String(value))
  const rows = [columns, ...list.map((entry) => columns.map((column) => cell(entry[column])))]
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
