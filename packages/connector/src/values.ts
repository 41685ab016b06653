import type { Field, FieldError } from '@penstock/wire'
import {
  fieldCounts,
  fieldIsRequired,
  isSecretReference,
  type Role,
  readFieldValue,
  secretMask,
} from '@penstock/wire/rules'
import type { Condition, FieldDefinition, Fields, FieldValue } from './fields.ts'

/**
 * Reading, checking and showing configuration values by the connector's own definition (specification, section 2.6). Every
 * function returns all errors, each with its field.
 */

/** Values by field key. They contain secrets only when a connector receives them or when they are sealed. */
export type Values = Readonly<Record<string, FieldValue>>

/** Values of a caller, read against the fields: values to set, keys to clear, and errors. */
export type Reading = {
  set: Record<string, FieldValue>
  cleared: string[]
  fieldErrors: FieldError[]
}

/**
 * Reads a configuration object that a caller sent. `null`, `""` and an empty list of options clear a value. A secret's mask, and
 * any value equal to the current one, mean "unchanged".
 * @param path the path of the object in the request, for the errors: `body.secretConfig`
 * @param current the saved values; for a secret any text, because it is not compared
 */
export function readValues(
  fields: Fields,
  given: Readonly<Record<string, unknown>>,
  path: string,
  current: Values = {},
): Reading {
  const reading: Reading = { set: {}, cleared: [], fieldErrors: [] }
  for (const [key, sent] of Object.entries(given)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    const fieldError = (message: string) => reading.fieldErrors.push({ field: `${path}.${key}`, message })
    if (!field) {
      fieldError(`is not a field of this connector; its fields are: ${Object.keys(fields).join(', ') || 'none'}`)
    } else if (field.type === 'Password' && sent === secretMask) {
      if (!Object.hasOwn(current, key)) fieldError('is not set yet: send the secret itself, not its mask')
    } else if (clears(field, sent)) {
      if (Object.hasOwn(current, key)) {
        if (field.readonly) fieldError('is filled by the service and cannot be cleared')
        else reading.cleared.push(key)
      }
    } else {
      const value = readFieldValue(field, sent)
      const isReference = field.type === 'Password' && isSecretReference(sent)
      const wrong = 'wrong' in value ? value.wrong : isReference ? undefined : field.wrong?.(String(value.read))
      if ('wrong' in value || wrong !== undefined) fieldError(wrong ?? '')
      else if (!field.readonly) reading.set[key] = value.read
      else if (showValue(value.read) !== showValue(own(current, key) ?? field.default)) {
        fieldError('is filled by the service and cannot be set')
      }
    }
  }
  return reading
}

/**
 * The fields that are required, with their conditions and defaults, and have no value.
 * @param role includes the fields that only this side of a connection needs; without it, these are omitted
 */
export function missingValues(fields: Fields, values: Values, path: string, role?: Role): FieldError[] {
  return Object.entries(fields)
    .filter(
      ([key, field]) =>
        fieldIsRequired(fields, key, values, role) && !Object.hasOwn(values, key) && field.default === undefined,
    )
    .map(([key, field]) => ({ field: `${path}.${key}`, message: `is required: ${field.label}` }))
}

/** Stored secrets that are affected by a change of their address. */
export type Rebinding = {
  /** Stored secrets that are in use and must be sent again. */
  fieldErrors: FieldError[]
  /**
   *  Stored secrets that are not used with the new values: they are removed, so that they are never sent to the new
   *  destination.
   */
  dropped: string[]
}

/** The fields with `binds` whose values differ, with defaults. These values determine where the bound secrets are sent. */
export function changedBindings(fields: Fields, before: Values, after: Values): string[] {
  const effective = (values: Values, key: string) => showValue(own(values, key) ?? fields[key]?.default)
  const isFirstPin = (key: string, pins: Condition) =>
    effective(before, key) === '' &&
    Object.entries(pins).every(([other, values]) => [values].flat().includes(effective(before, other)))
  return Object.entries(fields).flatMap(([key, { binds = [], pins }]) =>
    binds.length > 0 && effective(before, key) !== effective(after, key) && !(pins && isFirstPin(key, pins))
      ? [key]
      : [],
  )
}

/**
 * Keeps stored secrets from being sent to a new destination: if the value of a field with `binds` changes, the secrets in `binds`
 * must be sent again, or cleared.
 * @param current the saved values; for a secret any text
 * @param reading the result of {@link readValues} for the request
 * @param path the path of the values in the request, for the errors
 */
export function rebindSecrets(
  fields: Fields,
  current: Values,
  { set, cleared }: Pick<Reading, 'set' | 'cleared'>,
  path: string,
): Rebinding {
  const next: Record<string, FieldValue> = { ...current, ...set }
  for (const key of cleared) delete next[key]
  const changed = changedBindings(fields, current, next)
  const rebinding: Rebinding = { fieldErrors: [], dropped: [] }
  for (const name of Object.keys(fields)) {
    const changedBy = changed.filter((key) => fields[key]?.binds?.includes(name))
    const isKept = Object.hasOwn(current, name) && !Object.hasOwn(set, name) && !cleared.includes(name)
    if (changedBy.length === 0 || !isKept) continue
    if (fieldCounts(fields, name, next)) {
      const message = `must be entered again: saved secrets are not reused after connection details change (${changedBy.map((key) => fields[key]?.label ?? key).join(', ')})`
      rebinding.fieldErrors.push({ field: `${path}.${name}`, message })
    } else rebinding.dropped.push(name)
  }
  return rebinding
}

/** The field definitions of a group with their current values, as Get Connector Configuration shows them. */
export function showFields(fields: Fields, values: Values): Field[] {
  return Object.entries(fields).map(([key, field]) => ({
    name: key,
    label: field.label,
    description: field.description,
    type: field.type,
    required: fieldIsRequired(fields, key, values, field.role),
    readonly: field.readonly,
    ...(field.min === undefined ? {} : { min: field.min }),
    ...(field.max === undefined ? {} : { max: field.max }),
    ...(field.options ? { options: [...field.options] } : {}),
    value:
      field.type === 'Password'
        ? Object.hasOwn(values, key)
          ? secretMask
          : ''
        : showValue(own(values, key) ?? field.default),
  }))
}

/** Whether a caller clears a value by sending this. */
function clears({ type }: FieldDefinition, sent: unknown): boolean {
  if (sent === null || sent === '') return true
  return type === 'Multi-Select' && (sent === '[]' || (Array.isArray(sent) && sent.length === 0))
}

/** The value under a key, never what objects inherit. */
const own = (values: Values, key: string): FieldValue | undefined =>
  Object.hasOwn(values, key) ? values[key] : undefined

/** A value as the API returns it: always text. */
export function showValue(value: FieldValue | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
