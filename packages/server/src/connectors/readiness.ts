import { type Connector, missingValues, type Values } from '@penstock/connector'
import type { FieldError, Role } from '@penstock/wire'

/** A connector whose refresh token was granted to the operator's app, or to a client of the account (null). */
export type Authorized = { readonly oauthClientId: string | null }

/** The fields that the operator's app fills. They are treated as set, and their values are read when a job starts. */
export function filledByApp({ authorization }: Connector, { oauthClientId }: Authorized): Values {
  return oauthClientId === null || !authorization
    ? {}
    : { [authorization.client.id]: '', [authorization.client.secret]: '' }
}

/** Why a configuration cannot be the source of a connection, whatever is added to it. */
export function sourceErrors(connector: Connector, role: Role, settings: Values, field: string): FieldError[] {
  const why = role === 'Source' ? connector.source?.whyNot?.(settings) : undefined
  return why === undefined ? [] : [{ field, message: `${connector.name} ${why}` }]
}

/**
 * Fields that are missing, and other reasons, before the connector can have a role in a connection that carries data. Fields of only one
 * role are not required when the connector is saved, unless such a connection already exists.
 * @param secretNames the secrets that are set
 * @param path the path of the values in the answer: `srcConnector`, `body.secretConfig`
 */
export function missingForRole(
  connector: Connector,
  role: Role,
  { settings, secretNames, oauthClientId }: Authorized & { settings: Values; secretNames: readonly string[] },
  path: string,
): FieldError[] {
  const values = {
    ...settings,
    ...Object.fromEntries(secretNames.map((name) => [name, ''])),
    ...filledByApp(connector, { oauthClientId }),
  }
  return [...missingValues(connector.secrets, values, path, role), ...sourceErrors(connector, role, settings, path)]
}
