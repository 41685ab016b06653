import type { Role } from './terms.ts'

/** When a configuration field is used, given the values of its group. The server and the forms use this one rule. */

/**
 * The properties of a field that this rule uses. Both the definition of a connector and its representation in the API
 * have them.
 */
export type ConditionalField = {
  readonly required: boolean
  readonly readonly: boolean
  /** Other fields of the group, each with its accepted value or values. */
  readonly when?: Readonly<Record<string, string | readonly string[]>>
  /** Only this side of a connection needs the field. */
  readonly role?: Role
  /** Effective while no value is set. */
  readonly default?: unknown
}

/** The fields of one group, by their keys. */
export type ConditionalFields = Readonly<Record<string, ConditionalField>>

/** The values that are set, by the keys of their fields. Null and empty text mean not set. */
export type GivenValues = Readonly<Record<string, unknown>>

/** Whether a field is used: its conditions are met, and the conditions of the fields that they name are met, too. */
export function fieldCounts(fields: ConditionalFields, key: string, values: GivenValues): boolean {
  return Object.entries(own(fields, key)?.when ?? {}).every(([other, wanted]) => {
    const value = setValue(values, other) ?? own(fields, other)?.default
    return value !== undefined && [wanted].flat().includes(String(value)) && fieldCounts(fields, other, values)
  })
}

/**
 * Whether a field requires a value: the field is used and required, and the service does not fill it.
 * @param role the side of a connection: includes the fields that only this side needs
 */
export function fieldIsRequired(
  fields: ConditionalFields,
  key: string,
  values: GivenValues,
  role?: Role | undefined,
): boolean {
  const field = own(fields, key)
  if (!field?.required || field.readonly) return false
  if (field.role && field.role !== role) return false
  return fieldCounts(fields, key, values)
}

/** The own value of a key, never what objects inherit. */
const own = <T>(object: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

function setValue(values: GivenValues, key: string): unknown {
  const value = own(values, key)
  return value === null || value === '' ? undefined : value
}
