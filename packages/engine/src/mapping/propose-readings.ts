import { areMost, type Cell, isNumbered, likelyType, type PlainKind, type Row } from '@penstock/connector'
import { type LocalForm, numberForms, numberReadings, readLocalTime, withoutUnit } from '@penstock/expressions/local'

/**
 * Finds columns whose values are numbers, days, times or booleans, all or most of them, for a destination that has types and accepts
 * any columns. A column whose values such a destination reads without help needs no proposal. Transfers ignore proposals: a person
 * must accept a proposal into the mapping and the types of a created table.
 */

/** How the values of a column can be read, and the type of the column that they then fill. */
export type ReadingChoice = {
  /** Keys of a mapping entry; none if a destination reads the values as they are. */
  readonly reading: Pick<LocalForm, 'numbers' | 'unit' | 'dates'> & {
    readonly values?: Readonly<Record<string, string>>
  }
  readonly type: 'bigint' | 'numeric' | 'date' | 'timestamp' | 'timestamptz' | 'boolean'
  /** Values that can be read so. */
  readonly fits: number
  /** A value, and the result of reading it. */
  readonly before: string
  readonly after: string
}

export type ColumnReadings = {
  readonly column: string
  /** Values that were looked at. */
  readonly records: number
  /**
   * `shown`: all values can be read in one way. `mostly`: most can, and the others in no way. `ambiguous`: they can be read in two ways.
   * `contradicting`: some can be read only in one way, others only in the other.
   */
  readonly reason: 'shown' | 'mostly' | 'ambiguous' | 'contradicting'
  readonly choices: readonly ReadingChoice[]
  /** Values that can be read in no way, a few of them. */
  readonly others: readonly string[]
}

/**
 * @param rows the rows of the preview, and further rows
 * @returns the columns with a proposal, in their order, without columns that have a type in the source
 */
export function proposeReadings(
  columns: readonly string[],
  rows: readonly Row[],
  types?: readonly unknown[],
): ColumnReadings[] {
  return columns.flatMap((column, at): ColumnReadings[] => {
    if (types?.[at]) return []
    const first = valuesIn(rows.slice(0, firstRows), at)
    const isEmpty = first.length === 0
    // Further rows are read only if they can change the answer: a column of texts stays a column of texts.
    const isText = !isEmpty && !local(first) && !likelyType(first)
    const values = isText ? [] : valuesIn(rows, at)
    const found = values.length === 0 ? undefined : (local(values) ?? plain(values, isEmpty))
    if (!found || found.choices.length === 0) return []
    const { choices, isRead, contradicts } = found
    const fits = isRead.filter(Boolean).length
    const records = values.length
    const whole = choices.filter((choice) => choice.fits === fits)
    const [reason, offered] =
      contradicts || whole.length === 0
        ? (['contradicting', choices] as const)
        : whole.length > 1
          ? (['ambiguous', choices] as const)
          : ([fits === records ? 'shown' : 'mostly', whole] as const)
    const others = [...new Set(values.filter((_, index) => !isRead[index]).map(String))].slice(0, othersMax)
    return [{ column, records, reason, choices: offered, others }]
  })
}

/** Rows from which a destination chooses types without a proposal. */
const firstRows = 100

/** The values of a column, without empty ones. */
const valuesIn = (rows: readonly Row[], at: number): Cell[] =>
  rows
    .map((row) => row[at] ?? null)
    .map((cell) => (typeof cell === 'string' ? cell.trim() : cell))
    .filter((cell) => cell !== null && cell !== '')

const othersMax = 3

/** How the values of a column can be read: in each way, and which of them in any. */
type Found = {
  readonly choices: readonly ReadingChoice[]
  readonly isRead: readonly boolean[]
  /** Whether values that can be read in several ways stand next to values of another form, which shows nothing about them. */
  readonly contradicts?: boolean
}

/** Forms that a mapping has to read. */
function local(values: readonly Cell[]): Found | undefined {
  if (!values.every((value) => typeof value === 'string')) return undefined
  // A long text is no number and no time.
  const texts = values.map((text) => (text.length > lengthMax ? '' : text))
  for (const find of [booleans, numbers, days]) {
    const found = find(texts)
    if (found && isLikely(found.isRead)) return found
  }
  return undefined
}

const isLikely = (isRead: readonly boolean[]): boolean => areMost(isRead.filter(Boolean).length, isRead.length)

/** Characters of the longest text that can be a number, a time or a word of yes and no. */
const lengthMax = 64

const plainTypes: Readonly<Record<PlainKind, ReadingChoice['type']>> = {
  bigint: 'bigint',
  decimal: 'numeric',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'timestamp',
  instant: 'timestamptz',
}

/**
 * Values that a destination reads as they are. If all are of a type, it needs no proposal, unless its first rows have no value.
 */
function plain(values: readonly Cell[], isEmpty: boolean): Found | undefined {
  const likely = likelyType(values)
  if (!likely || (likely.fits === likely.records && !isEmpty)) return undefined
  const example = String(values.find(likely.isOf))
  const choice = { reading: {}, type: plainTypes[likely.kind], fits: likely.fits, before: example, after: example }
  return { choices: [choice], isRead: values.map(likely.isOf) }
}

/** Words of yes and no that databases do not read as booleans. */
const words: readonly (readonly [yes: string, no: string])[] = [
  ...([
    ['true', 'false'],
    ['yes', 'no'],
    ['y', 'n'],
    ['on', 'off'],
  ] as const),
  ...([
    ['ja', 'nein'],
    ['j', 'n'],
    ['wahr', 'falsch'],
    ['ja', 'nee'],
    ['ja', 'nej'],
    ['ja', 'nei'],
  ] as const),
  ...([
    ['oui', 'non'],
    ['vrai', 'faux'],
    ['si', 'no'],
    ['sí', 'no'],
    ['sì', 'no'],
    ['vero', 'falso'],
  ] as const),
  ...([
    ['verdadero', 'falso'],
    ['sim', 'não'],
    ['tak', 'nie'],
    ['ano', 'ne'],
    ['kyllä', 'ei'],
  ] as const),
]

function booleans(texts: readonly string[]): Found | undefined {
  const met = new Set(texts.map((text) => text.toLowerCase()))
  for (const pair of words) {
    if (!pair.every((word) => met.has(word))) continue
    const isRead = texts.map((text) => pair.includes(text.toLowerCase()))
    if (!isLikely(isRead)) continue
    const read = texts.filter((_, at) => isRead[at])
    // Databases read these two as they are.
    if (read.every((text) => text === 'true' || text === 'false')) return undefined
    const [before = ''] = read
    const after = before.toLowerCase() === pair[0] ? 'true' : 'false'
    const values = { [pair[0]]: 'true', [pair[1]]: 'false' }
    return { choices: [{ reading: { values }, type: 'boolean', fits: read.length, before, after }], isRead }
  }
  return undefined
}

/** Signs and codes of currencies, and of shares. */
const unitOf =
  /^[+-]?\s*(?<before>\p{Sc}|[A-Z]{1,2}\$|[A-Z]{3}|Fr\.)?\s*[+-]?\d[\d.,\s'’]*?\s*(?<after>\p{Sc}|[%‰]|[A-Z]{3}|Fr\.|kr\.?|zł|Kč|Ft)?$/u

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

function numbers(texts: readonly string[]): Found | undefined {
  const signs = texts.map(unitIn)
  const units = new Set(signs.filter((sign) => sign !== undefined))
  const [unit] = units
  if (units.size > 1 || unit === undefined) return undefined
  const amounts = texts.map((text, at) => (signs[at] === undefined ? '' : unit === '' ? text : withoutUnit(text, unit)))
  if (amounts.some(isNumbered)) return undefined
  const readings = amounts.map(numberReadings)
  const choices = numberForms.flatMap((form): ReadingChoice[] => {
    const read = readings.map((reading) => reading[form])
    const shown = shownIn(
      texts,
      read.map((text, at) => text && signOf(amounts[at] ?? '') + text),
    )
    return shown ? [{ reading: { numbers: form, ...(unit && { unit }) }, type: 'numeric', ...shown }] : []
  })
  const isRead = readings.map(({ comma, point }) => (comma ?? point) !== undefined)
  if (unit === '') {
    const read = amounts.filter((_, at) => isRead[at])
    const isPlain = (text: string) => /^[+-]?\d+(?:\.\d+)?$/.test(text)
    const isPoint = readings.some(({ comma, point }) => point !== undefined && comma === undefined)
    // Databases read whole numbers, and numbers of which one shows that the point is before the decimals.
    if (read.every(isPlain) && (isPoint || !read.some((text) => text.includes('.')))) return undefined
  }
  return { choices, isRead }
}

/** The unit of a number, empty without one; undefined if a text is no number. */
function unitIn(text: string): string | undefined {
  const { before, after } = unitOf.exec(text)?.groups ?? {}
  if (before && after) return undefined
  const sign = before ?? after
  if (sign === undefined) return numberForms.some((form) => numberReadings(text)[form] !== undefined) ? '' : undefined
  return /^[A-Z]{3}$/.test(sign) && !currencies.has(sign) ? undefined : sign
}

const signOf = (text: string): string => /^[+-]/.exec(text)?.[0] ?? ''

function days(texts: readonly string[]): Found | undefined {
  const orders = ['DMY', 'MDY', 'YMD'] as const
  const all = orders.map((form) =>
    texts.map((text) => {
      // The month is never first in a day with points.
      if (form === 'MDY' && /^\d{1,2}\./.test(text)) return undefined
      // A year that is first is so in every order.
      if (form === 'YMD' && !/^\d{4}/.test(text)) return undefined
      const read = readLocalTime(text, { dates: form }, false).text
      return read !== undefined && iso.test(read) ? read : undefined
    }),
  )
  const isRead = texts.map((_, at) => all.some((read) => read[at] !== undefined))
  const given = texts.filter((_, at) => isRead[at])
  // Databases read ISO 8601.
  if (given.every((text) => iso.test(text))) return undefined
  const isYearFirst = given.every((text) => /^\d{4}/.test(text))
  const types = new Set(all.flat().flatMap((text) => (text === undefined ? [] : [typeOf(text)])))
  const [type] = types
  if (!type || types.size > 1) return undefined
  const choices = orders.flatMap((form, at): ReadingChoice[] => {
    if ((form === 'YMD') !== isYearFirst) return []
    const read = all[at] ?? []
    // Days with the year first show nothing about the order of the others.
    if (!isYearFirst && !texts.some((text, index) => read[index] !== undefined && !/^\d{4}/.test(text))) return []
    const shown = shownIn(texts, read)
    return shown ? [{ reading: { dates: form }, type, ...shown }] : []
  })
  // Days with points show nothing about the order in days with slashes.
  return { choices, isRead, contradicts: choices.length > 1 && given.some((text) => /^\d{1,2}\./.test(text)) }
}

const iso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/

const typeOf = (text: string): 'date' | 'timestamp' | 'timestamptz' =>
  text.length <= 10 ? 'date' : /(?:Z|[+-]\d\d:\d\d)$/.test(text.slice(10)) ? 'timestamptz' : 'timestamp'

/** Number of texts that can be read, and the first text that reading changes; undefined if no text can be read. */
function shownIn(
  texts: readonly string[],
  read: readonly (string | undefined)[],
): Pick<ReadingChoice, 'fits' | 'before' | 'after'> | undefined {
  const pairs = texts.flatMap((before, at) => {
    const after = read[at]
    return after === undefined ? [] : [{ before, after }]
  })
  const [first] = pairs
  return first && { fits: pairs.length, ...(pairs.find(({ before, after }) => before !== after) ?? first) }
}
