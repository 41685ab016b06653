import type { Preview } from '@penstock/wire'
import { count } from '../../../components/numbers.ts'
import type { Sampled } from '../../../strings/readings.ts'
import type { ColumnReading, Line, Lines } from '../mapping/mapping.ts'
import type { ChosenTypes } from './types.ts'

/** Columns whose values are, or mostly are, numbers, times or words of yes and no, and how they can be read. */
export type Readings = NonNullable<Preview['readings']>
export type ColumnReadings = Readings[number]
export type ReadingChoice = ColumnReadings['choices'][number]

/** The rows from which types are proposed. */
export const sampledIn = (samples: Preview | undefined): Sampled =>
  samples?.sampled && { counted: count(samples.sampled.rows), whole: samples.sampled.whole }

type Chosen = { readonly lines: Lines; readonly types: ChosenTypes }

/** A mapping with every choice that fits all values, and the types of these columns. No lines: there is none. */
export function proposedReadings(readings: Readings, columns: readonly string[]): Chosen {
  return readings.reduce<Chosen>(
    (before, { reason, column, choices: [choice] }) =>
      reason === 'shown' && choice ? withReading(before, columns, column, choice) : before,
    { lines: [], types: {} },
  )
}

/** Reads a column in another way. */
export function withReading(
  { lines, types }: Chosen,
  columns: readonly string[],
  column: string,
  choice: ReadingChoice | 'text',
): Chosen {
  const all = linesOf(columns)
  const from = lines.length > 0 ? lines : all
  const { reading, type } = choice === 'text' ? { reading: {}, type: 'text' } : choice
  const next = from.map((line) => (isOf(column)(line) ? { field: line.field, entry: readBy(line, reading) } : line))
  return {
    lines: JSON.stringify(next) === JSON.stringify(all) ? [] : next,
    types: { ...types, ...Object.fromEntries(from.filter(isOf(column)).map(({ field }) => [field, type])) },
  }
}

/** The choice by which a mapping reads a column; `text` if somebody decided so, or chose another type; undefined: nobody has. */
export function choiceIn(
  { lines, types }: Chosen,
  { column, choices }: ColumnReadings,
): ReadingChoice | 'text' | undefined {
  const own = lines.find(isOf(column)) ?? linesOf([column])[0]
  if (own?.entry.kind !== 'column') return undefined
  const { entry } = own
  const type = types[own.field] ?? ''
  const read = choices.find(
    ({ reading, type: fitting }) =>
      sameReading(entry, reading) && (keys.some((key) => reading[key] !== undefined) || type === fitting),
  )
  return read ?? (type === '' ? undefined : 'text')
}

const isOf =
  (column: string) =>
  ({ entry }: Line): boolean =>
    entry.kind === 'column' && entry.column === column

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

function readBy({ entry }: Line, reading: ReadingChoice['reading']): Line['entry'] {
  const rest = Object.entries(entry).filter(([key]) => !keys.some((one) => one === key))
  return Object.fromEntries([...rest, ...Object.entries(reading)]) as Line['entry']
}
