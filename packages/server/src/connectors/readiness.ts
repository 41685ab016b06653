import { type Connector, missingValues, type Values } from '@penstock/connector'
import type { FieldError, Role } from '@penstock/wire'

/**
 * What a saved configuration still lacks before the connector can play a role in a connection that carries data. What
 * only one role needs is not asked for when the connector is saved, unless such a connection is there already.
 * @param secretNames the secrets that are set
 * @param path the path of the values in the answer: `srcConnector`, `body.secretConfig`
 */
export function missingForRole(
  connector: Connector,
  role: Role,
  { settings, secretNames }: { settings: Values; secretNames: readonly string[] },
  path: string,
): FieldError[] {
  const values = { ...settings, ...Object.fromEntries(secretNames.map((name) => [name, ''])) }
  return missingValues(connector.secrets, values, path, role)
}
