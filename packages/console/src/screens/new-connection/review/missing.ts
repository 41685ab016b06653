import {
  type ConnectionDetails,
  type ConnectorConfiguration,
  type ConnectorDefinition,
  type FieldDefinition,
  type FieldError,
  fieldIsRequired,
  type GivenValues,
  type Role,
} from '@penstock/wire'
import { type SideKey, sideOf, sides } from '../settings.ts'

export type SideRead = { definition: ConnectorDefinition; configuration: ConnectorConfiguration | undefined }

/**
 * Missing values before a connection can be active, named as in a refusal of the service, by the contract's rule of
 * required fields. The service checks again at the activation.
 */
export function missingOf(connection: ConnectionDetails, read: Readonly<Record<SideKey, SideRead>>): FieldError[] {
  return sides.flatMap(({ key, role }): FieldError[] => {
    const { definition, configuration } = read[key]
    const secrets = Object.fromEntries(
      (configuration?.secretConfig[0]?.configuration ?? []).map(({ name, value }) => [name, value]),
    )
    return [
      ...(connection[key].configured
        ? missing(definition.secretFields, secrets, `${key}Connector`, role)
        : [{ field: `${key}Connector`, message: '' }]),
      ...missing(sideOf(definition, role).fields, connection[`${key}ConnectionConfig`], `${key}ConnectionConfig`, role),
    ]
  })
}

function missing(fields: readonly FieldDefinition[], values: GivenValues, path: string, role: Role): FieldError[] {
  const byName = Object.fromEntries(fields.map((field) => [field.name, field]))
  return fields
    .filter(({ name, default: byDefault }) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined
      const isSet = value !== undefined && value !== null && value !== ''
      return !isSet && byDefault === undefined && fieldIsRequired(byName, name, values, role)
    })
    .map(({ name, label }) => ({ field: `${path}.${name}`, message: label }))
}
