import { mapper as say } from '../../../strings/mapper.ts'
import type { ColumnReading } from './mapping.ts'

/** How the values of a column are read, in words; empty if they are taken as they can be read. */
export const wordsOfReading = (reading: ColumnReading): string[] =>
  [
    reading.default !== undefined && say.ifEmpty(reading.default),
    reading.numbers && say.numbers[reading.numbers],
    reading.unit,
    reading.dates && say.dates[reading.dates],
    reading.timezone,
    reading.values && say.answers(Object.keys(reading.values).length),
  ].filter((text): text is string => typeof text === 'string')
