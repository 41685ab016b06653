import { numberReasons, tooPrecise } from '../../databases/typed-values.ts'
import { type LoadedColumn, significantDigits } from './loaded-rows.ts'

/**
 * SQL that makes values of texts which a warehouse loaded, by the rules with which `typed-values.ts` reads cells. Numbers with an exponent are only
 * read for columns of floating-point numbers. An empty text is missing wherever the column holds no text.
 */

/** How a warehouse writes what the rules need. Patterns are regular expressions without a backslash. */
export type LoadDialect = {
  /** A condition: whether a text has such a part. */
  readonly contains: (text: string, pattern: string) => string
  /** A text with every such part replaced, in which `$1` is the first group. */
  readonly replaced: (text: string, pattern: string, by: string) => string
  /** NULL if the text is not valid for the type. */
  readonly tryCast: (text: string, type: string) => string
  readonly isInfinite: (number: string) => string
  /** A text without leading and trailing zeros. By default `trim` with two arguments. */
  readonly trim?: string
  readonly types: {
    /** A decimal for whole numbers of 64 bits. */
    readonly decimal: string
    readonly float: string
    readonly text: string
  }
}

/** The time of day of a timestamp, and what can follow it. */
const timeOfDay = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?([.][0-9]{1,9})?'
const offset = '[ ]?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)'
const day = '[0-9]{4}-[0-9]{2}-[0-9]{2}'
const { tooLarge } = numberReasons

/** Makes texts with seconds, six digits behind them, and an offset such as `+01:00`, which casts read, of what workers read, too. */
const rewritten: readonly (readonly [pattern: string, by: string])[] = [
  ['^(.*[Tt ])?([0-9]{2}:[0-9]{2})([^:0-9].*)?$', '$1$2:00$3'],
  ['([.][0-9]{6})0+', '$1'],
  ['^([0-9-]{10})[Tt]', '$1 '],
  [' ?[Zz]$', '+00:00'],
  ['(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '$1$2:$3'],
  ['(:[0-9.]+) ?([+-][0-9]{2})$', '$1$2:00'],
]

/** @returns for each kind of column what makes its values of SQL of a text, and which texts it refuses */
export function makeLoadRules(dialect: LoadDialect) {
  const { contains, replaced, tryCast, isInfinite, trim, types } = dialect
  const filledSql = (text: string): string => `nullif(${text}, '')`
  const not = (text: string, pattern: string): string => `not ${contains(text, `^(?:${pattern})$`)}`
  const wholeTime = (filled: string): string =>
    rewritten.reduce((text, [pattern, by]) => replaced(text, pattern, by), filled)

  const formed = (filled: string, value: string, pattern: string, reason: string): LoadedColumn['misfits'] => [
    [not(filled, pattern), reason],
    [`${filled} is not null and ${value} is null`, reason],
  ]

  /** Errors of a decimal with at most `places` places. */
  const digitsOnly = (filled: string, scale: number, places: string): LoadedColumn['misfits'] => [
    [not(`trim(${filled})`, '[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?'), numberReasons.none],
    [contains(filled, '[eE]'), 'A number has an exponent. Write its digits, or let a worker move the rows.'],
    [not(`trim(${filled})`, `[+-]?[0-9]*([.]${scale === 0 ? '' : `[0-9]{0,${scale}}`}0*)?`), places],
  ]

  const finerThanMicroseconds = (filled: string) => [contains(filled, '[.][0-9]{6}[0-9]*[1-9]'), tooPrecise(6)] as const

  return {
    filled: filledSql,

    text(text: string, length: number | undefined): LoadedColumn {
      const tooLong = [`char_length(${text}) > ${length}`, 'A text is too long for the column.'] as const
      return { value: text, misfits: length === undefined ? [] : [tooLong] }
    },

    /** @param type of whole numbers */
    whole(text: string, type: string): LoadedColumn {
      const filled = filledSql(text)
      const value = tryCast(tryCast(`trim(${filled})`, types.decimal), type)
      const noPlaces = 'A value has decimal places, but the column stores whole numbers.'
      return {
        value,
        misfits: [...digitsOnly(filled, 0, noPlaces), [`${filled} is not null and ${value} is null`, tooLarge]],
      }
    },

    /** @param wholeMax digits before the point @param scale digits behind it */
    decimal(text: string, type: string, [wholeMax, scale]: readonly [number, number]): LoadedColumn {
      const filled = filledSql(text)
      const places = `A value has more than ${scale} decimal places. The column stores ${scale}.`
      const value = tryCast(`trim(${filled})`, type)
      return {
        value,
        misfits: [
          ...digitsOnly(filled, scale, places),
          [not(`trim(${filled})`, `[+-]?0*[0-9]{0,${wholeMax}}([.].*)?`), tooLarge],
          [`${filled} is not null and ${value} is null`, tooLarge],
        ],
      }
    },

    float(text: string): LoadedColumn {
      const filled = filledSql(text)
      const value = tryCast(`trim(${filled})`, types.float)
      const digits = (of: string) => significantDigits(of, trim)
      return {
        value,
        misfits: [
          [not(`trim(${filled})`, '[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?'), numberReasons.none],
          [`${filled} is not null and (${value} is null or ${isInfinite(value)})`, tooLarge],
          // The text of a floating-point number has as many digits as are needed to parse the same number.
          [`${digits(filled)} <> ${digits(`cast(${value} as ${types.text})`)}`, numberReasons.tooManyDigits],
        ],
      }
    },

    truth(text: string): LoadedColumn {
      const filled = filledSql(text)
      const lower = `lower(${filled})`
      const value = `case when ${lower} in ('true', 't', 'yes', 'y', '1') then true when ${lower} in ('false', 'f', 'no', 'n', '0') then false end`
      const reason = 'A value is not true or false, as the column requires.'
      return { value, misfits: [[`${filled} is not null and (${value}) is null`, reason]] }
    },

    date(text: string): LoadedColumn {
      const filled = filledSql(text)
      const value = tryCast(filled, 'date')
      return { value, misfits: formed(filled, value, day, 'A value is not a valid date.') }
    },

    timeOfDay(text: string): LoadedColumn {
      const filled = filledSql(text)
      const value = tryCast(wholeTime(filled), 'time')
      const reason = 'A value is not a valid time of day.'
      return { value, misfits: [finerThanMicroseconds(filled), ...formed(filled, value, timeOfDay, reason)] }
    },

    /** A text without an offset is a time in UTC. @param column makes a value of the column of one of the type `timestamp` */
    time(text: string, column: (time: string) => string): LoadedColumn {
      const filled = filledSql(text)
      const time = tryCast(wholeTime(filled), 'timestamp')
      const form = `${day}([Tt ]${timeOfDay}(${offset})?)?`
      const reason = 'A value is not a valid time.'
      return { value: column(time), misfits: [finerThanMicroseconds(filled), ...formed(filled, time, form, reason)] }
    },
  }
}

/** Errors of every text: bytes that are not UTF-8, in the place of which warehouses put this character, and a value that is missing. */
export function withCommon(
  { value, misfits }: LoadedColumn,
  text: string,
  { needed, contains }: { readonly needed: string | undefined; readonly contains: (text: string) => string },
): LoadedColumn {
  return {
    value,
    misfits: [
      [contains(text), 'A value is not valid UTF-8 text.'],
      ...misfits,
      ...(needed === undefined
        ? []
        : [[`${needed} is null`, 'There is no value for a column that needs one.'] as const]),
    ],
  }
}
