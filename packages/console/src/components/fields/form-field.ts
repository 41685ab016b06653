import {
  type ConditionalFields,
  type Field,
  type FieldDefinition,
  type FieldType,
  fieldCounts,
  fieldIsRequired,
  isSecretReference,
  type ReadMeaning,
  type Role,
  readFieldValue,
  type SecretForm,
  secretMask,
  type WriteMeaning,
} from '@penstock/wire'

/**
 * A field of a form: from a connector's definition, with the current value if it was read for a sub-account. Both of
 * the wire's shapes are one, `FieldDefinition` and `Field`.
 */
export type FormField = {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly type: FieldType
  /** Whether a value is needed where the field counts. */
  readonly required: boolean
  /** Only the service fills it. */
  readonly readonly: boolean
  /** Bounds of a Number, inclusive. */
  readonly min?: number
  readonly max?: number
  /** Choices of a Select or a Multi-Select. */
  readonly options?: readonly string[]
  /** Display labels of choices, by choice. */
  readonly optionLabels?: Readonly<Record<string, string>>
  /** As text, as the service shows it; a secret that is set is its mask. */
  readonly value?: string
  /** One of the few settings that a form asks for; the others are folded. */
  readonly asked?: boolean
  /** Effect of choices on the rows that are read or written, by choice. */
  readonly meanings?: FieldDefinition['meanings']
  /** Its purpose, if a form explains it together with others. */
  readonly purpose?: FieldDefinition['purpose']
  /** Effective while no value is set, as text. */
  readonly default?: string
  /** Other fields of the form, of whose values each must have one for this field to count. */
  readonly when?: Readonly<Record<string, readonly string[]>>
  /** The form that a secret must have. */
  readonly form?: SecretForm
  /** Only this side of a connection needs it. */
  readonly role?: Role
  /** Whether a cursor stays valid if it changes. */
  readonly keepsState?: boolean
}

/**
 * A value while it is edited: a list for a Multi-Select, yes or no for a Boolean, else text. Empty text is no value; of a
 * secret, its mask is the one that is stored.
 */
export type FormValue = string | boolean | readonly string[]
export type FormValues = Readonly<Record<string, FormValue>>

/** Merges the definition of fields with their current values, in the order of the values. */
export function withDefinitions(fields: readonly Field[], definitions: readonly FieldDefinition[]): FormField[] {
  return fields.map((field) => {
    const definition = definitions.find(({ name }) => name === field.name)
    return { ...field, ...definition, value: field.value }
  })
}

/** Initial values of a form: the stored ones, else the defaults. */
export function valuesOf(fields: readonly FormField[]): FormValues {
  return Object.fromEntries(fields.map((field) => [field.name, read(field)]))
}

function read({ type, value, default: byDefault }: FormField): FormValue {
  const shown = value || byDefault || ''
  if (type === 'Boolean' && shown !== '') return shown === 'true'
  return type === 'Multi-Select' ? options(shown) : shown
}

function options(text: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.map(String) : []
  } catch {
    return []
  }
}

/** The fields that apply to these values. The form shows only these. */
export function countingFields(fields: readonly FormField[], values: FormValues): FormField[] {
  const known = conditionsOf(fields)
  return fields.filter(({ name }) => fieldCounts(known, name, values))
}

/** Whether a value is needed now. @param role the end of a connection that the form is for, if it is for one */
export function isNeeded(fields: readonly FormField[], name: string, values: FormValues, role?: Role): boolean {
  return fieldIsRequired(conditionsOf(fields), name, values, role)
}

const conditionsOf = (fields: readonly FormField[]): ConditionalFields =>
  Object.fromEntries(fields.map((field) => [field.name, field]))

/** Errors of fields that need a value and have none, by their names. @param message the error of each */
export function missingIn(fields: readonly FormField[], values: FormValues, role: Role, message: string) {
  const missing = countingFields(fields, values).filter(
    ({ name, readonly }) => !readonly && isEmpty(values[name] ?? '') && isNeeded(fields, name, values, role),
  )
  return Object.fromEntries(missing.map(({ name }) => [name, message]))
}

/** The option of a field that has a meaning. */
export const optionOf = (
  field: Pick<FormField, 'options' | 'meanings'> | undefined,
  meaning: ReadMeaning | WriteMeaning,
): string | undefined => field?.options?.find((option) => field.meanings?.[option] === meaning)

/** The fields whose values differ from their defaults. */
export function changedFields(fields: readonly FormField[], values: FormValues): FormField[] {
  const defaults = valuesOf(fields.map(({ value, ...field }) => field))
  const changes = changesOf(defaults, values, fields)
  return fields.filter(({ name }) => name in changes)
}

/** Whether a secret is stored: all that is ever known of it, unless it is a reference to a secret manager. */
export const isSecretSet = ({ type, value }: FormField): boolean =>
  type === 'Password' && (value === secretMask || isSecretReference(value))

/** Errors of typed secrets without the required form, by the names of their fields; in the words of the server. */
export function errorsOfForms(fields: readonly FormField[], values: FormValues): Record<string, string> {
  return Object.fromEntries(
    countingFields(fields, values).flatMap(({ name, type, form }) => {
      const value = values[name]
      if (type !== 'Password' || !value || value === secretMask) return []
      const read = isSecretReference(value) || form ? readFieldValue({ type, form }, value) : undefined
      return read && 'wrong' in read ? [[name, read.wrong]] : []
    }),
  )
}

export type FieldChanges = Record<string, string | boolean | string[] | null>

/**
 * Values to send for a form: only the changed ones; `null` if one was cleared. A secret's mask, which means that it
 * stays, is never sent.
 * @param before the values that the form started from, {@link valuesOf}; empty for a new resource
 * @param fields with them, values of fields that do not apply are left out
 */
export function changesOf(before: FormValues, after: FormValues, fields?: readonly FormField[]): FieldChanges {
  const asked = fields && new Set(countingFields(fields, after).map(({ name }) => name))
  const changes: FieldChanges = {}
  for (const [name, value] of Object.entries(after)) {
    const was = Object.hasOwn(before, name) ? before[name] : undefined
    if (value === secretMask || isSame(was, value) || (asked && !asked.has(name))) continue
    if (isEmpty(value)) {
      if (was !== undefined && !isEmpty(was)) changes[name] = null
    } else changes[name] = typeof value === 'object' ? [...value] : value
  }
  return changes
}

export const isEmpty = (value: FormValue): boolean => value === '' || (typeof value === 'object' && value.length === 0)

const isSame = (one: FormValue | undefined, other: FormValue) =>
  typeof one === 'object' && typeof other === 'object' ? one.join('\n') === other.join('\n') : one === other
