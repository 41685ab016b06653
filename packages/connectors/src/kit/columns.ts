import { column, type Normalisation, type RecordField } from '@penstock/connector'
import type { JsonObject } from '../platform-api/json.ts'

/**
 * The columns of an event destination: their values, and their places in the event. They are pure data, from which follow
 * the mapping, the pages of the documents, and the reading of rows with its rejections, in a transfer as in a preview.
 */

/** How a cell is read. A cell that cannot be read rejects its row, and names the column. */
export type ColumnReading =
  | {
      readonly kind: 'plain'
      readonly lengthMax?: number
      readonly pattern?: RegExp
      readonly wanted?: string
      readonly upper?: boolean
      readonly leaveOut?: boolean
    }
  | { readonly kind: 'digest'; readonly suffix?: RegExp; readonly hash?: 'md5' }
  | { readonly kind: 'decimal'; readonly as?: 'text'; readonly decimals?: number; readonly min?: number }
  | { readonly kind: 'amount'; readonly isBudget?: boolean }
  | { readonly kind: 'count' }
  | { readonly kind: 'whole' }
  | { readonly kind: 'currency' }
  | { readonly kind: 'flag'; readonly words?: Readonly<Record<string, boolean>>; readonly as?: 'number' }
  | { readonly kind: 'time'; readonly unit: TimeUnit; readonly daysMax?: number | DaysMaxBy }
  | { readonly kind: 'moment' }
  | {
      readonly kind: 'oneOf'
      readonly values: Readonly<Record<string, string>>
      readonly lettersOnly?: boolean
      readonly wanted: string
      readonly otherwise?: { readonly to: string; readonly value: string }
      readonly usual?: string | { readonly setting: string }
    }
  | { readonly kind: 'texts' }
  | {
      readonly kind: 'objects'
      readonly keys?: ObjectKeys
      readonly strict?: boolean
      readonly items?: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'object'
      readonly keys?: readonly string[]
      readonly as?: 'texts'
      readonly shape?: (given: JsonObject) => JsonObject
    }
  | { readonly kind: 'eventId' }
  | { readonly kind: 'special' }

export type TimeUnit = 'seconds' | 'milliseconds' | 'iso' | 'utc'

/** How old an event can be, in days, by the value at a path of the event. For other values `else`, or any age. */
export type DaysMaxBy = {
  readonly by: string
  readonly of: Readonly<Record<string, number>>
  readonly else?: number
}

/** The keys of an object that are sent, and their types. A value of another type is omitted. `from`: other names of the key. */
export type ObjectKeys = Readonly<
  Record<string, 'text' | 'number' | 'whole' | readonly [ObjectType, ...from: string[]]>
>
export type ObjectType = 'text' | 'number' | 'whole'

export type EventColumn = RecordField & {
  readonly reading: ColumnReading
  /**
   * The path of its key in the event, `user.email`. With `[]` at its end, the value becomes a list of one. A path that begins
   * with `@` is not sent, but rules and functions see it.
   */
  readonly to: string
  readonly how: How
}
export type EventColumns = Readonly<Record<string, EventColumn>>

/** More about a column. */
export type How = {
  /** The parameter of an address in another column that says the same: the click that an ad led to. */
  readonly fromUrl?: readonly [column: string, parameter: string]
  /** It is read and sent only with events that have one of these values at a path. */
  readonly only?: { readonly at: string; readonly is: readonly (string | boolean)[] }
  /** It is read and sent only together with this column. */
  readonly with?: string
  /** The setting that holds the value of rows without one. It is read like the column, when the destination is opened. */
  readonly setting?: string
  /** Why a row without it is rejected, in a sentence. With `with`, a row that has the other column. */
  readonly missing?: string
  /** The value of a row without one. */
  readonly usual?: unknown
}

export type ColumnOptions = How &
  Pick<
    RecordField,
    'addresses' | 'synonyms' | 'removing' | 'consent' | 'leftOutIfUnusable' | 'together' | 'digestEncoding' | 'oneOf'
  > & {
    readonly required?: boolean
    readonly normalise?: Normalisation
    /** Whether the platform finds a person by it: a row needs one such column. */
    readonly identifies?: boolean
  }

function columnOf(reading: ColumnReading, to: string, description: string, options: ColumnOptions = {}): EventColumn {
  const { fromUrl, only, with: other, setting, missing, usual, identifies, ...field } = options
  return {
    ...column({ description, ...field, ...(identifies && { oneOf: 'identifier' }) }),
    reading,
    to,
    how: {
      ...(fromUrl && { fromUrl }),
      ...(only && { only }),
      ...(other && { with: other }),
      ...(setting && { setting }),
      ...(missing && { missing }),
      ...(usual !== undefined && { usual }),
    },
  }
}
type Reads<Kind extends ColumnReading['kind']> = Omit<Extract<ColumnReading, { kind: Kind }>, 'kind'>

/**
 * A text, within bounds. `wanted` describes valid values in a sentence. `upper`: it is sent in upper case. `leaveOut`: a value
 * out of bounds is omitted, and the row is sent without it.
 */
export const plain = (
  to: string,
  description: string,
  { lengthMax, pattern, wanted, upper, leaveOut, ...options }: ColumnOptions & Reads<'plain'> = {},
): EventColumn =>
  columnOf(
    {
      kind: 'plain',
      ...(lengthMax && { lengthMax }),
      ...(pattern && { pattern }),
      ...(wanted && { wanted }),
      ...(upper && { upper }),
      ...(leaveOut && { leaveOut }),
    },
    to,
    description,
    options,
  )

/**
 * A digest in hexadecimal, which identifies a person. The engine computes it from a plain value.
 * @param options.suffix a suffix that a library of the platform adds to digests, which is removed
 * @param options.hash SHA-256 by default
 */
export function digest(
  to: string,
  description: string,
  normalise: Normalisation,
  { suffix, hash, ...options }: ColumnOptions & Reads<'digest'> = {},
): EventColumn {
  const reading = { kind: 'digest', ...(suffix && { suffix }), ...(hash && { hash }) } as const
  const made = columnOf(reading, to, description, { identifies: true, normalise, ...options })
  return { ...made, hashed: [hash ?? 'sha256'] }
}

/** A decimal number with a point. With `as: 'text'` it is sent as a text. */
export const decimal = (
  to: string,
  description: string,
  { as, decimals, min, ...options }: ColumnOptions & Reads<'decimal'> = {},
): EventColumn =>
  columnOf(
    {
      kind: 'decimal',
      ...(as && { as }),
      ...(decimals !== undefined && { decimals }),
      ...(min !== undefined && { min }),
    },
    to,
    description,
    options,
  )

/**
 * An amount of money in whole units of a currency, such as 12.50. It stays a text, so that it is exact.
 * @param options.isBudget whether the limits of budgets apply to it
 */
export const amount = (
  to: string,
  description: string,
  { isBudget, ...options }: ColumnOptions & Reads<'amount'> = {},
): EventColumn => columnOf({ kind: 'amount', ...(isBudget && { isBudget }) }, to, description, options)

/** A whole number that is not negative. */
export const count = (to: string, description: string, options?: ColumnOptions): EventColumn =>
  columnOf({ kind: 'count' }, to, description, options)

/** A whole number with its sign, as JSON can hold it. */
export const whole = (to: string, description: string, options?: ColumnOptions): EventColumn =>
  columnOf({ kind: 'whole' }, to, description, options)

/** Three letters of ISO 4217, sent in upper case. */
export const currency = (to: string, description: string, options?: ColumnOptions): EventColumn =>
  columnOf({ kind: 'currency' }, to, description, options)

/** Yes or no, in the common spellings and in further words, in lower case. */
export const flag = (
  to: string,
  description: string,
  { words, as, ...options }: ColumnOptions & Reads<'flag'> = {},
): EventColumn => columnOf({ kind: 'flag', ...(words && { words }), ...(as && { as }) }, to, description, options)

/**
 * A time: seconds or milliseconds since 1970, or ISO 8601 with a time zone. It is sent in its `unit`. `utc` is ISO 8601 in UTC.
 */
export const time = (
  to: string,
  description: string,
  { unit, daysMax, ...options }: ColumnOptions & Reads<'time'>,
): EventColumn =>
  columnOf({ kind: 'time', unit, ...(daysMax !== undefined && { daysMax }) }, to, description, {
    required: true,
    ...options,
  })

/** A time that can be in the future, in ISO 8601 with a time zone. It is sent in UTC, in whole seconds. */
export const moment = (to: string, description: string, options?: ColumnOptions): EventColumn =>
  columnOf({ kind: 'moment' }, to, description, options)

/**
 * One of some values: the keys of `values` are the accepted cells, in lower case, and its values are sent. `lettersOnly`:
 * `add_to_cart` matches `AddToCart`. `otherwise`: the path of any other value, and the value that is sent instead. `usual`: the
 * value of a row without one. `wanted`: the values in words. `listed`: the values that the mapping and the pages list.
 */
export const oneOf = (
  to: string,
  description: string,
  {
    values,
    lettersOnly,
    wanted,
    otherwise,
    usual,
    listed,
    ...options
  }: Omit<ColumnOptions, 'usual'> & Reads<'oneOf'> & { readonly listed?: readonly string[] },
): EventColumn => ({
  ...columnOf(
    {
      kind: 'oneOf',
      values,
      wanted,
      ...(lettersOnly && { lettersOnly }),
      ...(otherwise && { otherwise }),
      ...(usual !== undefined && { usual }),
    },
    to,
    description,
    options,
  ),
  ...(listed && { values: listed }),
})

/** The values of `oneOf` that are sent as they are, in any letter case. */
export const asWritten = (...values: readonly string[]): Record<string, string> =>
  Object.fromEntries(values.map((value) => [value.toLowerCase(), value]))

/** Several texts: a JSON list, or separated by semicolons, else by commas. */
export const texts = (to: string, description: string, options?: ColumnOptions): EventColumn =>
  columnOf({ kind: 'texts' }, to, description, options)

/**
 * A JSON list of objects, or one.
 * @param options.strict rejects objects with a key that is not in `keys`
 * @param options.items the platform's keys of an item, by the keys of an item in ECAPI. Other keys of ECAPI are not sent
 */
export const objects = (
  to: string,
  description: string,
  { keys, strict, items, ...options }: ColumnOptions & Reads<'objects'> = {},
): EventColumn =>
  columnOf(
    { kind: 'objects', ...(keys && { keys }), ...(strict && { strict }), ...(items && { items }) },
    to,
    description,
    options,
  )

/**
 * A JSON object with values that separate columns can also have. The separate columns have priority. A value at the path of
 * another column is read like that column. @param options.keys the only keys that it can have; `as: 'texts'`: its values become
 * texts; `shape` converts it into the form of the event, if an object of another form is accepted too
 */
export const object = (
  to: string,
  description: string,
  { keys, as, shape, ...options }: ColumnOptions & Reads<'object'> = {},
): EventColumn =>
  columnOf(
    { kind: 'object', ...(keys && { keys }), ...(as && { as }), ...(shape && { shape }) },
    to,
    description,
    options,
  )

/**
 * The ID by which the platform recognises a repeated event. A row without an ID gets one that stays the same when the row is
 * sent again.
 */
export const eventId = (to: string, description: string, options?: ColumnOptions): EventColumn =>
  columnOf({ kind: 'eventId' }, to, description, options)

/** A column that only a function of the connector reads. */
export const special = (description: string, options?: ColumnOptions): EventColumn =>
  columnOf({ kind: 'special' }, '', description, options)

/** The consent of a flag by which a platform limits the use of the data of people in the US. */
export const limitedUse = { use: 'sale', denied: 'true' } as const

/** The field of a record that a column is, for the catalogue and the mapping. */
export const recordOf = ({ reading, to, how, ...field }: EventColumn): RecordField => {
  const { kind } = reading
  if (kind === 'time' || kind === 'moment') return { ...field, reads: 'time' }
  const numbers: readonly string[] = ['decimal', 'amount', 'count', 'whole']
  return numbers.includes(kind) ? { ...field, reads: 'number' } : field
}
