import { type LoadedColumn, significantDigits } from '../databases/loaded-rows.ts'
import { numberReasons } from '../databases/typed-values.ts'
import { numberIn } from '../platform-api/json.ts'
import type { TargetField } from './target-values.ts'

const missing = 'There is no value for a column that needs one.'
const notANumber = numberReasons.none
const { tooLarge } = numberReasons
const notUtf8 = 'A value has bytes that are not UTF-8 text.'

/** The time of day of a timestamp, and what can follow it. */
const timeOfDay = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?([.][0-9]{1,9})?'
const offset = '[ ]?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)'
const day = '[0-9]{4}-[0-9]{2}-[0-9]{2}'

/**
 * How a column is filled from the text of a column of the staging table, by the rules with which `target-values.ts` reads cells.
 * Numbers with an exponent are only read for columns of floating-point numbers.
 * @param text SQL of the text: NULL if the file has nothing there
 * @returns `undefined` for a type whose texts only a worker reads
 */
export function loadedColumn(column: TargetField, text: string): LoadedColumn | undefined {
  const typed = column.repeated ? undefined : typedColumn(column, text)
  if (!typed) return undefined
  const needed = column.type === 'STRING' ? text : filledSql(text)
  return {
    value: typed.value,
    misfits: [
      // BigQuery puts this character in the place of bytes that it cannot read.
      [`strpos(${text}, '\ufffd') > 0`, notUtf8],
      ...typed.misfits,
      ...(column.needed ? [[`${needed} is null`, missing] as const] : []),
    ],
  }
}

/** An empty text is missing wherever the column holds no text. */
const filledSql = (text: string): string => `nullif(${text}, '')`

function typedColumn({ type, schema }: TargetField, text: string): LoadedColumn | undefined {
  const filled = filledSql(text)
  const [precision, scale] = [numberIn(schema.precision), numberIn(schema.scale)]
  switch (type) {
    case 'STRING': {
      const length = numberIn(schema.maxLength)
      const tooLong = [`char_length(${text}) > ${length}`, 'A text is too long for the column.'] as const
      return { value: text, misfits: length === undefined ? [] : [tooLong] }
    }
    case 'INTEGER': {
      const value = `safe_cast(safe_cast(trim(${filled}) as numeric) as int64)`
      const noPlaces = 'A value has decimal places, which the column does not have.'
      return {
        value,
        misfits: [...digitsOnly(filled, 0, noPlaces), [`${filled} is not null and ${value} is null`, tooLarge]],
      }
    }
    case 'NUMERIC':
      return decimal('numeric', filled, precision === undefined ? [29, 9] : [precision - (scale ?? 0), scale ?? 0])
    case 'BIGNUMERIC':
      return decimal('bignumeric', filled, precision === undefined ? [38, 38] : [precision - (scale ?? 0), scale ?? 0])
    case 'FLOAT': {
      const value = `safe_cast(trim(${filled}) as float64)`
      return {
        value,
        misfits: [
          [not(`trim(${filled})`, '[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?'), notANumber],
          [`${filled} is not null and (${value} is null or is_inf(${value}))`, tooLarge],
          // The text of a floating-point number has as many digits as make it this number again.
          [
            `${significantDigits(filled)} <> ${significantDigits(`cast(${value} as string)`)}`,
            numberReasons.tooManyDigits,
          ],
        ],
      }
    }
    case 'BOOLEAN': {
      const lower = `lower(${filled})`
      const value = `case when ${lower} in ('true', 't', 'yes', 'y', '1') then true when ${lower} in ('false', 'f', 'no', 'n', '0') then false end`
      const reason = 'A value is neither true nor false, which the column requires.'
      return { value, misfits: [[`${filled} is not null and (${value}) is null`, reason]] }
    }
    case 'DATE': {
      const value = `safe_cast(${filled} as date)`
      const reason = 'A value is not a date, which the column requires.'
      return { value, misfits: [...formed(filled, value, day, reason)] }
    }
    case 'TIME': {
      const value = `safe_cast(${wholeTime(filled)} as time)`
      const reason = 'A value is not a time of day, which the column requires.'
      return { value, misfits: [tooPrecise(filled), ...formed(filled, value, timeOfDay, reason)] }
    }
    case 'DATETIME':
    case 'TIMESTAMP': {
      const time = `safe_cast(${wholeTime(filled)} as timestamp)`
      const form = `${day}([Tt ]${timeOfDay}(${offset})?)?`
      const reason = 'A value is not a time, which the column requires.'
      return {
        // A text without an offset is a time in UTC.
        value: type === 'TIMESTAMP' ? time : `datetime(${time}, 'UTC')`,
        misfits: [tooPrecise(filled), ...formed(filled, time, form, reason)],
      }
    }
    default:
      return undefined
  }
}

/** A condition for texts that do not have a form as a whole. */
const not = (text: string, pattern: string): string => `not regexp_contains(${text}, r'^(?:${pattern})$')`

const formed = (filled: string, value: string, pattern: string, reason: string): LoadedColumn['misfits'] => [
  [not(filled, pattern), reason],
  [`${filled} is not null and ${value} is null`, reason],
]

/** Errors of a decimal with at most so many places. */
const digitsOnly = (filled: string, scale: number, places: string): LoadedColumn['misfits'] => [
  [not(`trim(${filled})`, '[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?'), notANumber],
  [
    `regexp_contains(${filled}, r'[eE]')`,
    'A number has an exponent; write its digits, or have the rows pass Penstock.',
  ],
  [not(`trim(${filled})`, `[+-]?[0-9]*([.]${scale === 0 ? '' : `[0-9]{0,${scale}}`}0*)?`), places],
]

function decimal(type: string, filled: string, [wholeMax, scale]: readonly [number, number]): LoadedColumn {
  const places = `A value has more than the ${scale} decimal places of the column.`
  const value = `safe_cast(trim(${filled}) as ${type})`
  return {
    value,
    misfits: [
      ...digitsOnly(filled, scale, places),
      [not(`trim(${filled})`, `[+-]?0*[0-9]{0,${wholeMax}}([.].*)?`), tooLarge],
      [`${filled} is not null and ${value} is null`, tooLarge],
    ],
  }
}

const tooPrecise = (filled: string) =>
  [
    `regexp_contains(${filled}, r'[.][0-9]{6}[0-9]*[1-9]')`,
    'A value has more than the 6 digits behind the second that the column keeps.',
  ] as const

/** Makes texts with seconds, six digits behind them, and an offset such as `+01:00`, which casts read, of what workers read, too. */
const rewritten: readonly (readonly [pattern: string, by: string])[] = [
  ['^(.*[Tt ])?([0-9]{2}:[0-9]{2})([^:0-9].*)?$', '\\1\\2:00\\3'],
  ['([.][0-9]{6})0+', '\\1'],
  ['^([0-9-]{10})[Tt]', '\\1 '],
  [' ?[Zz]$', '+00:00'],
  ['(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\\1\\2:\\3'],
  ['(:[0-9.]+) ?([+-][0-9]{2})$', '\\1\\2:00'],
]

const wholeTime = (filled: string): string =>
  rewritten.reduce((text, [pattern, by]) => `regexp_replace(${text}, r'${pattern}', r'${by}')`, filled)

/** A column of the staging table, by the index of the column of the source. */
export const stagedName = (index: number): string => `c${index}`
