import type { JudgedRow } from '../kit/warehouse/rows.ts'
import { rowNumber, rowRemoved, stageColumn } from './copy.ts'
import type { RedshiftColumn } from './target-columns.ts'

/** Redshift loads no larger object of JSON. */
const lineBytesMax = 4 * 1024 * 1024

/**
 * A row as a line of JSON, under the names of the stage's columns. Every value is a text, so that no JSON parser changes its
 * digits, except values that are JSON themselves.
 */
export function lineOf(columns: readonly RedshiftColumn[], { index, values, isRemoved }: JudgedRow): string {
  const parts = values.flatMap((value, at) =>
    value === null
      ? []
      : [`"${stageColumn(at)}":${columns[at]?.isJson ? onOneLine(String(value)) : JSON.stringify(String(value))}`],
  )
  const removed = isRemoved ? [`"${rowRemoved}":"true"`] : []
  return `{${[...parts, ...removed, `"${rowNumber}":"${index}"`].join(',')}}\n`
}

/** No text of JSON has a line feed that is not escaped, so all others are white space. */
const onOneLine = (json: string): string => json.replace(/[\r\n]/g, ' ')

/** Whether Redshift would not load a line because of its size. */
export const lineTooLong = (line: string): boolean =>
  line.length * 3 > lineBytesMax && Buffer.byteLength(line) > lineBytesMax
