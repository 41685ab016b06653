import { fieldCounts } from '@penstock/wire/rules'
import type { FieldDefinition, Fields } from './fields.ts'
import { showValue, type Values } from './values.ts'

/**
 *  The settings to which the state of a connection belongs: the data of the source in which a cursor is a place, and the
 *  destination of this data.
 */

/**
 * Whether the state depends on a field. It does not depend on a secret, because secrets are replaced regularly and never
 * compared. It does not depend on a value that the service fills itself.
 */
export const identifiesState = ({ type, readonly, keepsState }: FieldDefinition): boolean =>
  type !== 'Password' && !readonly && keepsState === undefined

/**
 *  The fields by which two sets of values describe different data. Defaults are filled in, and fields that are not used are
 *  ignored.
 */
export function changedIdentity(fields: Fields, before: Values, after: Values): string[] {
  const effective = (values: Values, key: string) =>
    fieldCounts(fields, key, values) ? showValue(values[key] ?? fields[key]?.default) : undefined
  return Object.entries(fields).flatMap(([key, field]) =>
    identifiesState(field) && effective(before, key) !== effective(after, key) ? [key] : [],
  )
}
