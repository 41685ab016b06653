import type { Cell } from '@penstock/connector'
import { dateReadings, type LocalForm, type NumberForm, numberForms, numberReadings } from '@penstock/expressions/local'

/**
 * Determines from the values of a column how they are written. A form is proposed only if a value can be read in no other way and
 * no value contradicts it. Transfers ignore proposals: a person must accept a proposal into the mapping.
 */

/** A setting of a mapping entry for which the values contain evidence. */
export type FormFinding = {
  readonly setting: 'numbers' | 'dates' | 'timezone'
  /** The value of the setting that fits all values; `null` if several settings fit. */
  readonly proposed: string | null
  /**
   * `shown`: at least one value can be read in only one way. `ambiguous`: each value can be read in two ways. `contradicting`:
   * some values can be read in only one way, others only in the other way. `missing`: times have no time zone. `default`: times
   * have no time zone, and the setting for all fields defines it.
   */
  readonly reason: 'shown' | 'ambiguous' | 'contradicting' | 'missing' | 'default'
  /** The value that shows it. */
  readonly example: string
}

/**
 * Examines the values of a column that fills a field of numbers or times.
 * @param reads the kind of values that the field accepts
 * @param values as they are in the source; only texts are examined, because other values have no form
 * @param local the part that the mapping already defines, for which nothing is proposed
 * @param defaultTimezone time zone of times without a zone
 */
export function proposeForms(
  reads: 'number' | 'time',
  values: readonly Cell[],
  { numbers, dates, timezone }: LocalForm,
  defaultTimezone: string | undefined,
): FormFinding[] {
  const texts = values.filter((value) => typeof value === 'string')
  const found =
    reads === 'number'
      ? [numbers === undefined && numbersFinding(texts)]
      : [dates === undefined && datesFinding(texts), timezone === undefined && timezoneFinding(texts, defaultTimezone)]
  return found.filter((finding) => typeof finding === 'object')
}

/** The values that can be read in only one way, by that way, and a value that can be read in two ways. */
type Evidence<Form extends string> = {
  readonly only: ReadonlyMap<Form, string>
  readonly ambiguous: string | undefined
}

function evidenceOf<Form extends string>(
  texts: readonly string[],
  readingsOf: (text: string) => readonly Form[],
): Evidence<Form> {
  const only = new Map<Form, string>()
  let ambiguous: string | undefined
  for (const text of texts) {
    const [form, other] = readingsOf(text)
    if (form === undefined) continue
    if (other !== undefined) ambiguous ??= text
    else if (!only.has(form)) only.set(form, text)
  }
  return { only, ambiguous }
}

function findingOf<Form extends string>(
  setting: FormFinding['setting'],
  { only, ambiguous }: Evidence<Form>,
): FormFinding | undefined {
  const [first, second] = only
  if (first && second) return { setting, proposed: null, reason: 'contradicting', example: second[1] }
  if (first) return { setting, proposed: first[0], reason: 'shown', example: first[1] }
  return ambiguous === undefined ? undefined : { setting, proposed: null, reason: 'ambiguous', example: ambiguous }
}

function numbersFinding(texts: readonly string[]): FormFinding | undefined {
  const formsOf = (text: string): readonly NumberForm[] => {
    const readings = numberReadings(text)
    const forms = numberForms.filter((form) => readings[form] !== undefined)
    // Both forms result in the same number, so the value decides nothing.
    return forms.length === 2 && readings.comma === readings.point ? [] : forms
  }
  const finding = findingOf('numbers', evidenceOf(texts, formsOf))
  if (finding?.proposed !== 'point') return finding
  // Without a setting, numbers with a decimal point are read correctly, but numbers that only group digits with commas are not.
  const needsForm = texts.some((text) => text.includes(',') && formsOf(text).length === 2)
  return needsForm ? finding : undefined
}

const datesFinding = (texts: readonly string[]): FormFinding | undefined =>
  findingOf(
    'dates',
    evidenceOf(texts, (text) => dateReadings(text).orders),
  )

function timezoneFinding(texts: readonly string[], defaultTimezone: string | undefined): FormFinding | undefined {
  const example = texts.find((text) => dateReadings(text).lacksZone)
  if (example === undefined) return undefined
  return defaultTimezone === undefined
    ? { setting: 'timezone', proposed: null, reason: 'missing', example }
    : { setting: 'timezone', proposed: defaultTimezone, reason: 'default', example }
}
