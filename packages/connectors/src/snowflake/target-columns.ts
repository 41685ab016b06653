import type { Cell } from '@penstock/connector'
import type { ReadValue } from '../databases/typed-values.ts'
import type { TargetColumn } from '../kit/warehouse/table.ts'
import type { SnowflakeColumn } from './cells.ts'
import { writerFor } from './column-writers.ts'
import { keyReaderFor } from './key-values.ts'

/** A column that rows go to. `read` returns the texts that are sent. */
export type SnowflakeTargetColumn = TargetColumn &
  SnowflakeColumn & {
    /** SQL that makes a value of the column from SQL of such a text. */
    readonly value: (text: string) => string
  }

/** @param isMirrored whether rows are mirrored by the column, so that each value must have one form */
export function targetColumn(column: SnowflakeColumn, isMirrored: boolean): SnowflakeTargetColumn {
  const { text, value, doubt } = writerFor(column)
  const readKey = keyReaderFor(column)
  const read = (cell: Cell): ReadValue => {
    const written = text(cell)
    if (written === null) return { value: null }
    const reason = doubt(written)
    if (reason !== undefined) return { reason }
    const key = isMirrored ? readKey(written) : { value: null }
    return 'reason' in key ? key : { value: written }
  }
  const { isCollated = false, type } = column
  return { ...column, read, value, needed: false, isAmbiguous: isCollated, isIncomparable: !isCompared(type) }
}

/** Whether values of a type are compared exactly. */
export const isCompared = (type: string): boolean => /^(FIXED|TEXT|BOOLEAN|DATE|TIME|TIMESTAMP_\w+)$/.test(type)
