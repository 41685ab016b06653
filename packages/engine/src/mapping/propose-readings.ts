import type { Cell, Row } from '@penstock/connector'
import { type LocalForm, numberForms, numberReadings, readLocalTime, withoutUnit } from '@penstock/expressions/local'

/**
 * Finds columns of texts that contain numbers, days, times or booleans in everyday notation, for a destination that has types and
 * accepts any columns. Texts that such a destination reads without help need no proposal. Transfers ignore proposals: a person
 * must accept a proposal into the mapping.
 */

/** How the values of a column can be read, and the type of the column that they then fill. */
export type ReadingChoice = {
  /** Keys of a mapping entry. */
  readonly reading: Pick<LocalForm, 'numbers' | 'unit' | 'dates'> & {
    readonly values?: Readonly<Record<string, string>>
  }
  readonly type: 'numeric' | 'date' | 'timestamp' | 'timestamptz' | 'boolean'
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
   * `shown`: the values can be read in one way. `ambiguous`: all values can be read in two ways. `contradicting`: some values can
   * be read only in one way, others only in the other way.
   */
  readonly reason: 'shown' | 'ambiguous' | 'contradicting'
  readonly choices: readonly ReadingChoice[]
}

/** @returns the columns with a proposal, in their order, without columns that have a type in the source */
export function proposeReadings(
  columns: readonly string[],
  rows: readonly Row[],
  types?: readonly unknown[],
): ColumnReadings[] {
  return columns.flatMap((column, at) => {
    const texts = types?.[at] ? undefined : textsOf(rows.map((row) => row[at] ?? null))
    if (!texts) return []
    const found = booleans(texts) ?? numbers(texts) ?? days(texts)
    return found ? [{ column, records: texts.length, ...found }] : []
  })
}

/** The values of a column without surrounding spaces; undefined if there are no values, or some are not texts. */
function textsOf(cells: readonly Cell[]): readonly string[] | undefined {
  const given = cells.filter((cell) => cell !== null && cell !== '')
  if (given.length === 0 || !given.every((cell) => typeof cell === 'string')) return undefined
  if (given.some((text) => text.length > lengthMax)) return undefined
  const texts = given.map((text) => text.trim()).filter((text) => text !== '')
  return texts.length > 0 ? texts : undefined
}

/** Characters of the longest text that can be a number, a time or a word of yes and no. */
const lengthMax = 64

type Found = Omit<ColumnReadings, 'column' | 'records'>

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
  // Databases read these two values without help.
  if (texts.every((text) => text === 'true' || text === 'false')) return undefined
  const met = new Set(texts.map((text) => text.toLowerCase()))
  const pair = met.size === 2 && words.find((two) => two.every((word) => met.has(word)))
  if (!pair) return undefined
  const [before = ''] = texts
  const after = before.toLowerCase() === pair[0] ? 'true' : 'false'
  const values = { [pair[0]]: 'true', [pair[1]]: 'false' }
  return { reason: 'shown', choices: [{ reading: { values }, type: 'boolean', fits: texts.length, before, after }] }
}

/** Signs and codes of currencies, and of shares. */
const unitOf =
  /^[+-]?\s*(?<before>\p{Sc}|[A-Z]{1,2}\$|[A-Z]{3}|Fr\.)?\s*[+-]?\d[\d.,\s'’]*?\s*(?<after>\p{Sc}|[%‰]|[A-Z]{3}|Fr\.|kr\.?|zł|Kč|Ft)?$/u

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

function numbers(texts: readonly string[]): Found | undefined {
  const units = new Set(
    texts.map((text) => {
      const { before, after } = unitOf.exec(text)?.groups ?? {}
      const sign = before && after ? undefined : (before ?? after ?? '')
      return sign && /^[A-Z]{3}$/.test(sign) && !currencies.has(sign) ? undefined : sign
    }),
  )
  const [unit] = units
  if (units.size > 1 || unit === undefined) return undefined
  const amounts = unit === '' ? texts : texts.map((text) => withoutUnit(text, unit))
  // Digits after a zero are an identifier, such as a postal code.
  if (amounts.some((text) => /^[+-]?0\d/.test(text))) return undefined
  const readings = amounts.map(numberReadings)
  const choices = numberForms.flatMap((form): ReadingChoice[] => {
    const read = readings.map((reading) => reading[form])
    const shown = shownIn(
      texts,
      read.map((text, at) => text && signOf(amounts[at] ?? '') + text),
    )
    return shown ? [{ reading: { numbers: form, ...(unit && { unit }) }, type: 'numeric', ...shown }] : []
  })
  if (!readings.every(({ comma, point }) => comma ?? point)) return undefined
  if (unit === '') {
    const isPlain = (text: string) => /^[+-]?\d+(?:\.\d+)?$/.test(text)
    const isRead = readings.some(({ comma, point }) => point !== undefined && comma === undefined)
    // Databases read whole numbers, and numbers if at least one shows that the point is the decimal separator.
    if (amounts.every(isPlain) && (isRead || !amounts.some((text) => text.includes('.')))) return undefined
  }
  return found(choices, texts.length)
}

const signOf = (text: string): string => /^[+-]/.exec(text)?.[0] ?? ''

function days(texts: readonly string[]): Found | undefined {
  // Databases read ISO 8601.
  if (texts.every((text) => iso.test(text))) return undefined
  const isYearFirst = texts.every((text) => /^\d{4}/.test(text))
  const forms = isYearFirst ? (['YMD'] as const) : (['DMY', 'MDY'] as const)
  const all = forms.map((form) =>
    texts.map((text) => {
      // The month is never first in a day with points.
      if (form === 'MDY' && /^\d{1,2}\./.test(text)) return undefined
      const read = readLocalTime(text, { dates: form }, false).text
      return read !== undefined && iso.test(read) ? read : undefined
    }),
  )
  if (!texts.every((_, at) => all.some((read) => read[at] !== undefined))) return undefined
  const types = new Set(all.flat().flatMap((text) => (text === undefined ? [] : [typeOf(text)])))
  const [type] = types
  if (!type || types.size > 1) return undefined
  const choices = forms.flatMap((form, at): ReadingChoice[] => {
    const shown = shownIn(texts, all[at] ?? [])
    return shown ? [{ reading: { dates: form }, type, ...shown }] : []
  })
  const dotted = texts.filter((text) => /^\d{1,2}\./.test(text)).length
  // Days with points show nothing about the order in days with slashes.
  if (choices.length > 1 && dotted > 0) return { reason: 'contradicting', choices }
  return found(choices, texts.length)
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

/** Whether one choice fits all values, several choices fit all values, or each choice fits some values. */
function found(choices: readonly ReadingChoice[], records: number): Found | undefined {
  const whole = choices.filter(({ fits }) => fits === records)
  if (whole.length === 1) return { reason: 'shown', choices: whole }
  if (choices.length === 0) return undefined
  return { reason: whole.length > 1 ? 'ambiguous' : 'contradicting', choices }
}
