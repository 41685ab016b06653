import { keepingReasons } from '@penstock/connector'
import {
  dataTypeCategories,
  dataTypes,
  digestEncodings,
  digests,
  fieldTypes,
  normalisations,
  platformTypes,
  readMeanings,
  secretForms,
  settingPurposes,
  writeMeanings,
} from '@penstock/wire/rules'

/** Maximum characters of a name and of a text, and maximum number of fields or columns. */
const limits = { name: 200, text: 10_000, entries: 2_000 }

type Rule = (value: unknown) => string | undefined
type Rules = Readonly<Record<string, Rule>>

const text =
  (lengthMax: number): Rule =>
  (value) =>
    typeof value === 'string' && value.trim() !== '' && value.length <= lengthMax
      ? undefined
      : `must be a text of 1 to ${lengthMax} characters`
const slug: Rule = (value) =>
  typeof value === 'string' && value.length <= 100 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(value)
    ? undefined
    : 'must be lowercase words joined by hyphens, at most 100 characters'
const oneOf =
  (options: readonly unknown[]): Rule =>
  (value) =>
    options.includes(value) ? undefined : `must be one of ${options.join(', ')}`
const whole: Rule = (value) => (Number.isSafeInteger(value) && Number(value) > 0 ? undefined : 'must be a whole number')
const bounded: Rule = (value) => (Number.isSafeInteger(value) ? undefined : 'must be a whole number')
const yesOrNo = oneOf([true, false])
const maybe =
  (rule: Rule): Rule =>
  (value) =>
    value === undefined ? undefined : rule(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const object =
  (rules: Rules): Rule =>
  (value) => {
    if (!isObject(value)) return 'must be an object'
    for (const [key, rule] of Object.entries(rules)) {
      const wrong = rule(value[key])
      if (wrong !== undefined) return `${key} ${wrong}`
    }
    return undefined
  }
const each =
  (rule: Rule): Rule =>
  (value) => {
    const entries = Array.isArray(value) ? value.entries() : isObject(value) ? Object.entries(value) : undefined
    if (!entries) return 'must be a list'
    let count = 0
    for (const [key, one] of entries) {
      const wrong = ++count > limits.entries ? `is one of more than ${limits.entries}` : rule(one)
      if (wrong !== undefined) return `${key} ${wrong}`
    }
    return undefined
  }

const texts = each(text(limits.text))
const when = each((value) => (typeof value === 'string' ? undefined : texts(value)))
const field = object({
  type: oneOf(fieldTypes),
  label: text(limits.name),
  description: text(limits.text),
  required: yesOrNo,
  readonly: yesOrNo,
  options: maybe(texts),
  labels: maybe(texts),
  asked: maybe(yesOrNo),
  meanings: maybe(each(oneOf([...readMeanings, ...writeMeanings]))),
  purpose: maybe(oneOf(settingPurposes)),
  binds: maybe(texts),
  keepsState: maybe(oneOf(keepingReasons)),
  when: maybe(when),
  min: maybe(bounded),
  max: maybe(bounded),
  form: maybe(oneOf(secretForms)),
  role: maybe(oneOf(['Source', 'Destination'])),
})
const record = object({
  description: text(limits.text),
  required: yesOrNo,
  synonyms: maybe(texts),
  values: maybe(texts),
  reports: maybe(texts),
  identifiers: maybe(texts),
  hashed: maybe(each(oneOf(digests))),
  digestEncoding: maybe(oneOf(digestEncodings)),
  normalise: maybe(oneOf(normalisations)),
  reads: maybe(oneOf(['number', 'time'])),
  kind: maybe(oneOf(['dimension', 'metric', 'column'])),
  type: maybe(text(limits.name)),
})
const side = { fields: each(field), records: maybe(each(record)), discovers: texts }

const choice: Rule = (value) =>
  yesOrNo(value) && object({ field: text(limits.name), values: each(() => undefined) })(value)

const definition = object({
  slug,
  name: text(limits.name),
  description: text(limits.text),
  platform: object({
    slug,
    name: text(limits.name),
    type: oneOf(platformTypes),
    alsoCalled: maybe(texts),
  }),
  dataType: oneOf(dataTypes),
  dataTypeCategory: oneOf(dataTypeCategories),
  status: maybe(oneOf(['available', 'preview'])),
  actions: maybe(texts),
  notes: maybe(text(limits.text)),
  api: maybe(object({ version: text(limits.name), ends: text(limits.name) })),
  secrets: each(field),
  checks: yesOrNo,
  source: maybe(object({ ...side, opens: yesOrNo, columnsByReading: maybe(yesOrNo) })),
  destination: maybe(
    object({
      ...side,
      creates: maybe(
        object({ what: oneOf(['audience']), records: each(text(limits.name)), settings: each(text(limits.name)) }),
      ),
      delivers: maybe(object({ rowsMax: whole, bytesMax: whole, inspects: yesOrNo, replaces: choice })),
    }),
  ),
})

/**
 * Why a definition cannot be used, as the rest of a sentence. Undefined if it can be used. No compiler checked the author's
 * code, and mistakes here would make answers of the service wrong.
 */
export const errorOfDefinition = (written: unknown): string | undefined => definition(written)
