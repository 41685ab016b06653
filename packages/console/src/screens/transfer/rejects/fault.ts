import type { Reject } from '@penstock/wire'

/**
 * The fault of a value. The mapping, the source and each destination have their own words for it, and quote the value or say
 * which form they expect. The rows of one fault of one column are corrected together, so they are one group.
 */

/** Values that are not of the type of their column, by the words of the reason. A column has one type, so these are one fault. */
const typeFaults = {
  number: /not an? (?:whole )?number|must be an? (?:whole )?number/,
  date: /not a (?:valid )?date(?! or time| and time)|day of the calendar|must be a day\b/,
  dateTime: /not a (?:valid )?(?:date (?:or|and) )?time\b(?! of day)|must be a time\b|must be written as \d{4}-/,
  timeOfDay: /not a (?:valid )?time of day/,
  truth: /true (?:or|nor) false|neither yes nor no/,
  json: /not JSON\b/,
  otherType:
    /not an? (?:valid )?(?:UUID|IP address|interval|year|geometry|amount of money|string of bits)|neither \\x|neither base64/,
  type: /not of the type/,
} as const
const otherFaults = {
  tooLarge: /\bis (?:too large|out of the range)/,
  decimals: /decimal places/,
  tooLong: /\bis (?:too long|longer than)|more than (?:the )?[\d,]+ characters/,
  missing: /\bis missing\b|no value for/,
  twice: /already exists|is already there/,
  noReference: /refers to another row that does not exist/,
  email: /(?:not an|no) e-mail address$/,
  phone: /(?:not a|no) phone number/,
} as const

export type TypeFault = keyof typeof typeFaults
export type OtherFault = keyof typeof otherFaults

/** @property words the fault in the words of the reason, without values, columns and advice */
export type Fault = { readonly kind: TypeFault | OtherFault | undefined; readonly words: string }

const kinds = Object.entries({ ...otherFaults, ...typeFaults }) as readonly [TypeFault | OtherFault, RegExp][]
const isTypeFault = (kind: Fault['kind']): kind is TypeFault => kind !== undefined && Object.hasOwn(typeFaults, kind)

/** Finds the fault that a reason names. A row whose number of values is wrong keeps its reason as it is. */
export function faultOf({
  reason,
  field,
  record,
  structural,
}: Pick<Reject, 'reason' | 'field' | 'record' | 'structural'>): Fault {
  if (structural) return { kind: undefined, words: reason.replace(/\.$/, '') }
  const words = withoutAdvice(withoutSubject(withoutValues(reason, record), field))
  // A trigger or a check of the destination has its own words, which may contain any of these.
  const kind = /^The row (?!refers)/.test(words) ? undefined : kinds.find(([, pattern]) => pattern.test(words))?.[0]
  return { kind, words }
}

/** Identifies a fault within one column: the type of a column is one, whatever a reason calls it. */
export const keyOfFault = ({ kind, words }: Fault): string => (isTypeFault(kind) ? 'type' : (kind ?? words))

/** The fault that names a group best: one that says which type the column has. */
export const clearestOf = (faults: readonly Fault[]): Fault =>
  faults.find(({ kind }) => kind !== undefined && kind !== 'type') ?? (faults[0] as Fault)

/** A reason in which the quoted values of the row are omitted. */
function withoutValues(reason: string, record: Reject['record']): string {
  const values = new Set(Object.values(record))
  return reason.replace(/"([^"]*)"/g, (quoted, text: string) =>
    values.has(text) || text.endsWith('…') ? '"…"' : quoted,
  )
}

/** `"…" is not a number`, `A value for the column total is not a number` and `total is not a number` all say *is not a number*. */
function withoutSubject(reason: string, field: string | null): string {
  const subjects = [
    ...(field === null ? [] : [`${field} has no value: `, `${field} `]),
    ...['"…" ', 'A value ', 'A number ', 'A text ', 'A time ', 'The value ', 'The number ', 'The time '],
    ...(field === null ? [] : [`for the column ${field} `]),
  ]
  const rest = subjects.reduce(
    (text, subject) => (text.startsWith(subject) ? text.slice(subject.length) : text),
    reason,
  )
  return rest.replace(/^row(?:\["[^"]*"\]|\.\w+) /, '').replace(/, at character \d+\.?$/, '')
}

/** The first sentence, without the form that is expected and where to set it. */
const withoutAdvice = (reason: string): string =>
  reason
    .replace(/(?<=.)\. (?=[A-Z]).*$/s, '')
    .replace(/(?:[:;]| or is ambiguous:?) ?(?:write|say|add|set|check|have|choose)\b.*$/s, '')
    .replace(/, (?:in (?:a|the) form|which the column|as the column|or is ambiguous).*$/s, '')
    .replace(/ \((?:code|error|SQLSTATE) [^)]*\)/, '')
    .replace(/\.$/, '')
