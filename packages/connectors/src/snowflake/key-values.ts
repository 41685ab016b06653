import {
  type ReadCell,
  readDay,
  readDecimal,
  readText,
  readTime,
  readTimeOfDay,
  readTruth,
} from '../databases/typed-values.ts'
import type { SnowflakeColumn } from './cells.ts'

/**
 * Reads the values of a key column of a mirror in one form each, so that two notations of a value are found to be the same key. Snowflake itself reads
 * further notations of dates and times: rows with such keys are rejected, since it would not be known which row is theirs.
 */
export function keyReaderFor({ type, scale }: SnowflakeColumn): ReadCell {
  switch (type) {
    case 'FIXED':
      return readDecimal(38, scale)
    case 'BOOLEAN':
      return readTruth
    case 'DATE':
      return readDay()
    case 'TIME':
      return readTimeOfDay(9)
    default:
      return type.startsWith('TIMESTAMP_') ? readTime(9) : readText()
  }
}
