import type { Preview } from '@penstock/wire'
import type { ColumnReading, Line, Lines } from '../mapping/mapping.ts'
import type { ChosenTypes } from './types.ts'

/** Columns whose texts are numbers, times or words of yes and no, and how they can be read. */
export type Readings = NonNullable<Preview['readings']>
export type ColumnReadings = Readings[number]
export type ReadingChoice = ColumnReadings['choices'][number]

type Chosen = { readonly lines: Lines; readonly types: ChosenTypes }

/** A mapping with every choice that fits all values, and the types of these columns. No lines: there is none. */
export function proposedReadings(readings: Readings, columns: readonly string[]): Chosen {
  return readings.reduce<Chosen>(
    (before, { reason, column, choices: [choice] }) =>
      reason === 'shown' && choice ? withReading(before, columns, column, choice) : before,
    { lines: [], types: {} },
  )
}

/** Reads a column in another way. @param choice undefined: as texts */
export function withReading(
  { lines, types }: Chosen,
  columns: readonly string[],
  column: string,
  choice: ReadingChoice | undefined,
): Chosen {
  const all = linesOf(columns)
  const isRead = ({ entry }: Line) => entry.kind === 'column' && entry.column === column
  const from = lines.length > 0 ? lines : all
  const next = from.map((line) => (isRead(line) ? { field: line.field, entry: readBy(line, choice?.reading) } : line))
  const fields = from.filter(isRead).map(({ field }) => field)
  return {
    lines: JSON.stringify(next) === JSON.stringify(all) ? [] : next,
    types: { ...types, ...Object.fromEntries(fields.map((field) => [field, choice?.type ?? ''])) },
  }
}

/** The choice by which a mapping reads a column; undefined: as texts. */
export const choiceIn = (lines: Lines, { column, choices }: ColumnReadings): ReadingChoice | undefined =>
  choices.find(({ reading }) =>
    lines.some((line) => {
      const { entry } = line
      return entry.kind === 'column' && entry.column === column && sameReading(entry, reading)
    }),
  )

/** A line for each column, under its own name. */
export const linesOf = (columns: readonly string[]): Lines =>
  [...new Set(columns)]
    .filter((column) => column !== '')
    .map((column) => ({ field: column, entry: { kind: 'column', column } }))

/** Whether a column is sent under its own name, and only its reading is chosen. */
export const isOnlyRead = ({ field, entry }: Line): boolean =>
  entry.kind === 'column' &&
  entry.column === field &&
  !(entry.normalise || entry.hash || entry.timezone || entry.default !== undefined)

const keys = ['numbers', 'unit', 'dates', 'values'] as const

const sameReading = (entry: ColumnReading, reading: ReadingChoice['reading']): boolean =>
  keys.every((key) => JSON.stringify(entry[key]) === JSON.stringify(reading[key]))

function readBy({ entry }: Line, reading: ReadingChoice['reading'] = {}): Line['entry'] {
  const rest = Object.entries(entry).filter(([key]) => !keys.some((one) => one === key))
  return Object.fromEntries([...rest, ...Object.entries(reading)]) as Line['entry']
}
