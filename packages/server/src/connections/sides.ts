import {
  type Connector,
  changedIdentity,
  fieldsOfRole,
  incompatibilities,
  missingValues,
  readValues,
  type Values,
} from '@penstock/connector'
import { defaultCountryErrors, defaultTimezoneErrors, filterErrors, mappingErrors } from '@penstock/engine'
import type { FieldError, Role } from '@penstock/wire'
import { requireScope } from '../access.ts'
import type { Actor } from '../call.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import { missingForRole, sourceErrors } from '../connectors/readiness.ts'
import type { Transaction } from '../db/database.ts'
import { violates } from '../db/errors.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'
import { type ConnectionRow, filledFields, holdSides } from './queries.ts'

/** The two sides of a connection: the name of each side in requests, and its role (invariant 2). */
export const sides = [
  { key: 'src', role: 'Source' },
  { key: 'dest', role: 'Destination' },
] as const satisfies readonly { key: string; role: Role }[]
export type SideKey = (typeof sides)[number]['key']

/** Whether changed settings of a connection name other data, or another destination, than before: a state that describes these starts anew. */
export const nameOtherData = (
  { known }: Pick<Catalogue, 'known'>,
  row: Pick<ConnectionRow, 'srcConnectorId' | 'destConnectorId' | 'srcConfig' | 'destConfig'>,
  change: Pick<ConnectionRow, 'srcConfig' | 'destConfig'>,
): boolean =>
  sides.some(({ key, role }) => {
    const fields = fieldsOfRole(known(row[`${key}ConnectorId`]), role)
    return changedIdentity(fields, row[`${key}Config`], change[`${key}Config`]).length > 0
  })

/** Refuses an incompatible pair, with every reason. */
export function requireCompatible(source: Connector, destination: Connector): void {
  refuseFieldErrors(
    incompatibilities(source, destination).map((message) => ({ field: 'body.destConnectorId', message })),
    'connectors_incompatible',
  )
}

/** @param path their path in the request, for the errors */
export type ReadSettings = (
  connector: Connector,
  role: Role,
  given: Readonly<Record<string, unknown>>,
  path: string,
  current?: Values,
) => { values: Values; fieldErrors: FieldError[] }

/**
 * Reads the settings that a caller sent for one side, with the mapping, the filter and the default country. They replace the stored
 * settings, except values that the service itself filled in.
 */
export const readSettings: ReadSettings = (connector, role, given, path, current) => {
  const { values, fieldErrors } = readFieldValues(connector, role, given, path, current)
  const { mapping, filter, defaultCountry, defaultTimezone } = values
  if (role !== 'Destination') return { values, fieldErrors }
  const wrong = [
    ...(typeof mapping === 'string' ? mappingErrors(mapping, connector.destination?.records, `${path}.mapping`) : []),
    ...filterErrors(filter, undefined, `${path}.filter`),
    ...defaultCountryErrors(defaultCountry, `${path}.defaultCountry`),
    ...defaultTimezoneErrors(defaultTimezone, `${path}.defaultTimezone`),
  ]
  return { values, fieldErrors: [...fieldErrors, ...wrong] }
}

/** The same without reading the mapping, for a preview, which says of it all that is wrong with the source's columns, too. */
export const readFieldValues: ReadSettings = (connector, role, given, path, current = {}) => {
  const fields = fieldsOfRole(connector, role)
  const { set, fieldErrors } = readValues(fields, given, path, current)
  const filled = Object.entries(current).filter(([key]) => fields[key]?.readonly)
  return { values: { ...Object.fromEntries(filled), ...set }, fieldErrors }
}

/** Refuses with `invalid_request` a configuration that cannot be a source, whatever is added to it. */
export async function requireReadable(
  tx: Transaction,
  catalogue: Catalogue,
  {
    accountId,
    srcConnectorId,
    srcConfigurationId,
  }: Pick<ConnectionRow, 'accountId' | 'srcConnectorId' | 'srcConfigurationId'>,
): Promise<void> {
  const connector = catalogue.known(srcConnectorId)
  if (!connector.source?.whyNot) return
  const [filled] = await filledFields.all(tx, { accountId, configurationIds: [srcConfigurationId] })
  refuseFieldErrors(sourceErrors(connector, 'Source', filled?.settings ?? {}, 'body.srcConfigurationId'))
}

/** Refuses with `connection_not_ready`, listing everything that both sides still lack before data can move. */
export async function requireReady(
  tx: Transaction,
  catalogue: Catalogue,
  connection: Pick<
    ConnectionRow,
    | 'accountId'
    | 'srcConnectorId'
    | 'destConnectorId'
    | 'srcConfigurationId'
    | 'destConfigurationId'
    | 'srcConfig'
    | 'destConfig'
  >,
): Promise<void> {
  const configurationIds = [connection.srcConfigurationId, connection.destConfigurationId]
  const of = { accountId: connection.accountId, configurationIds }
  await holdSides.run(tx, of)
  const rows = await filledFields.all(tx, of)
  const fieldErrors = sides.flatMap(({ key, role }): FieldError[] => {
    const connector = catalogue.known(connection[`${key}ConnectorId`])
    const filled = rows.find(({ configurationId }) => configurationId === connection[`${key}ConfigurationId`])
    return [
      ...(filled
        ? missingForRole(connector, role, filled, `${key}Connector`)
        : [{ field: `${key}Connector`, message: `${connector.name} is not configured: save its configuration first` }]),
      ...missingValues(fieldsOfRole(connector, role), connection[`${key}Config`], `${key}ConnectionConfig`, role),
    ]
  })
  if (fieldErrors.length > 0) refuse('connection_not_ready', fieldErrors)
}

/**
 * Refuses with `forbidden` an actor who is not allowed to write secrets and sets or changes a value that says where a secret of
 * the connector goes. A connection stores no secrets that could be asked for again.
 */
export function requireToDirectSecrets(
  actor: Actor,
  connector: Connector,
  role: Role,
  before: Values,
  after: Values,
): void {
  const changed = Object.entries(fieldsOfRole(connector, role)).some(
    ([key, { binds = [] }]) => binds.length > 0 && after[key] !== undefined && after[key] !== before[key],
  )
  if (changed) requireScope(actor, 'secrets:write')
}

/**
 * Runs a statement that needs both sides to be added. The database decides, since only it sees every race.
 * @param onDeleted refuses if the configuration of a side was deleted
 */
export async function requireSides<T>(work: () => Promise<T>, onDeleted: (side: SideKey) => never): Promise<T> {
  try {
    return await work()
  } catch (error) {
    for (const { key } of sides) {
      if (violates(error, `connections_${key}_added`)) {
        refuse('connector_not_added', [{ field: `${key}Connector`, message: 'is no longer added to this sub-account' }])
      }
      if (violates(error, `connections_${key}_configuration`)) onDeleted(key)
    }
    throw error
  }
}
