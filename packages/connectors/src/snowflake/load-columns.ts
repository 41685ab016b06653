import { numberReasons } from '../databases/typed-values.ts'
import { type LoadedColumn, significantDigits } from '../kit/warehouse/loaded-rows.ts'
import type { SnowflakeColumn } from './cells.ts'
import { quoteAsIs } from './plan.ts'

const missing = 'There is no value for a column that needs one.'
/** Significant digits that a floating-point number of 64 bits keeps, whichever they are. */
const keptDigits = 15
/** Snowflake writes fewer digits of such a number than it has, so that no SQL finds out whether all of 16 or 17 are kept. */
const maybeRounded = `A number has more than the ${keptDigits} digits that are certain to be kept in a floating-point column; have the rows pass Penstock.`
const largest = '1.7976931348623157e308'
const smallestWithAllDigits = '2.2250738585072014e-308'
const decimal = '[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)'

/**
 * How a column is filled from the text of a column of the staging table, by the rules of `column-writers.ts`.
 * @param text SQL of the text: NULL if the file has nothing there
 * @returns `undefined` for a type whose texts only a worker reads
 */
export function loadedColumn(column: SnowflakeColumn, text: string): LoadedColumn | undefined {
  const { type, scale, precision = 38, length, isRequired } = column
  // An empty text is missing wherever the column holds no text.
  const filled = `nullif(${text}, '')`
  const withNeeded = (value: string, misfits: LoadedColumn['misfits'], source = filled): LoadedColumn => ({
    value,
    misfits: [...misfits, ...(isRequired ? [[`${source} is null`, missing] as const] : [])],
  })
  const read = (value: string, reason: string): LoadedColumn =>
    withNeeded(value, [[`${filled} is not null and ${value} is null`, reason]])
  switch (type) {
    case 'TEXT': {
      const tooLong = [`length(${text}) > ${length}`, 'A text is too long for the column.'] as const
      return withNeeded(text, length === undefined ? [] : [tooLong], text)
    }
    case 'FIXED': {
      const value = `try_to_number(${filled}, ${precision}, ${scale})`
      const places = scale === 0 ? '[+-]?[0-9]*([.]0*)?' : `[+-]?[0-9]*([.][0-9]{0,${scale}}0*)?`
      const number = `regexp_like(trim(${filled}), '${decimal}')`
      return withNeeded(value, [
        [`not ${number}`, numberReasons.none],
        [
          `not regexp_like(trim(${filled}), '${places}')`,
          `A value has more than ${scale} decimal places. The column stores ${scale}.`,
        ],
        [`${filled} is not null and ${value} is null`, numberReasons.tooLarge],
      ])
    }
    case 'REAL': {
      const value = `try_to_double(${filled})`
      const digits = significantDigits(filled)
      return withNeeded(value, [
        [`not regexp_like(trim(${filled}), '${decimal}([eE][+-]?[0-9]{1,3})?')`, numberReasons.none],
        [`length(${digits}) > 17`, numberReasons.tooManyDigits],
        [`length(${digits}) > ${keptDigits}`, maybeRounded],
        [`${filled} is not null and (${value} is null or abs(${value}) > ${largest})`, numberReasons.tooLarge],
        [`${digits} <> '' and abs(${value}) < ${smallestWithAllDigits}`, numberReasons.tooManyDigits],
      ])
    }
    case 'BOOLEAN':
      return read(`try_to_boolean(${filled})`, 'A value is not true or false, as the column requires.')
    case 'DATE':
      return read(`try_to_date(${filled})`, 'A value is not a valid date.')
    case 'TIME':
      return read(`try_to_time(${filled})`, 'A value is not a valid time.')
    // The time zone of the session is UTC: a text without an offset is a time in it.
    case 'TIMESTAMP_NTZ':
      return read(
        `to_timestamp_ntz(convert_timezone('UTC', try_to_timestamp_tz(${filled})))`,
        'A value is not a valid time.',
      )
    case 'TIMESTAMP_LTZ':
      return read(`try_to_timestamp_ltz(${filled})`, 'A value is not a valid time.')
    case 'TIMESTAMP_TZ':
      return read(`try_to_timestamp_tz(${filled})`, 'A value is not a valid time.')
    case 'VARIANT':
      return read(`try_parse_json(${filled})`, 'A value is not JSON, which the column requires.')
    default:
      return undefined
  }
}

/** A column of the staging table, by the index of the column of the source. */
export const stagedName = (index: number): string => quoteAsIs(`C${index}`)
