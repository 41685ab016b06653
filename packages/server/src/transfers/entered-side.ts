import { asConnectorError, type Connector, ConnectorError, type Values } from '@penstock/connector'
import type { OpenedSide } from '@penstock/engine'
import type { Role } from '@penstock/wire'
import { requireScope } from '../access.ts'
import type { Call } from '../call.ts'
import { readFieldValues, requireToDirectSecrets } from '../connections/sides.ts'
import {
  changesTarget,
  currentValues,
  findConfiguration,
  readConfiguration,
  requireConfiguration,
  requireValid,
} from '../connectors/configuration.ts'
import { identityValues } from '../connectors/identity-values.ts'
import { referenceErrors, referencesIn } from '../connectors/secret-references.ts'
import { refuseFieldErrors } from '../refusal.ts'
import { type ConfiguredSide, openSide } from './sides.ts'
import type { TransferDeps } from './transfers.ts'

/** A side with values that are not saved yet, for a person who writes its definition. */
export type EnteredSide = {
  /** The side that a runner gets; the error, if its saved values cannot be opened. */
  readonly opened: OpenedSide | ConnectorError
  /** Whether secrets were entered that are not saved. */
  readonly entered: boolean
  readonly side: ConfiguredSide
}

/**
 * Opens a side with its saved configuration and values that are not saved yet. A saved secret does not go to a server that the values
 * name: it must be entered again, as when they are saved.
 */
export async function openEnteredSide(
  {
    db: database,
    actor,
    account,
    id: connectorId,
    query: { configurationId },
    body,
  }: Call<'askSource' | 'tryDestination'>,
  { config, keyring, secretManagers }: Pick<TransferDeps, 'config' | 'keyring' | 'secretManagers'>,
  connector: Connector,
  role: Role,
): Promise<EnteredSide> {
  const wanted = { actor, accountId: account.id, connectorId, configurationId, field: 'query.configurationId' }
  const row = await requireConfiguration(database, wanted, findConfiguration)
  const current = await currentValues(database, account, row)
  const { set, cleared, fieldErrors } = readConfiguration(connector, current, body.secretConfig ?? {}, {
    shown: identityValues(connector, config, account),
  })
  const isSecret = (key: string) => connector.secrets[key]?.type === 'Password'
  const entered = [...Object.keys(set), ...cleared].some(isSecret)
  const without = <V>(values: Readonly<Record<string, V>>): Record<string, V> =>
    Object.fromEntries(Object.entries(values).filter(([key]) => !cleared.includes(key)))
  const references = referencesIn(Object.fromEntries(Object.entries(set).filter(([key]) => isSecret(key))))
  const values = Object.fromEntries(Object.entries(set).filter(([key]) => !(key in references)))
  const referring = { account, connectorId, secretName: row.secretName, actor }
  const refused = referenceErrors(references, referring, secretManagers)
  const next = without({ ...current, ...set })
  if (entered || changesTarget(connector, current, next)) requireScope(actor, 'secrets:write')
  requireValid(connector, [...fieldErrors, ...refused], next, config)
  const settings = readFieldValues(connector, role, body.settings ?? {}, 'body.settings')
  refuseFieldErrors(settings.fieldErrors)
  requireToDirectSecrets(actor, connector, role, {}, settings.values)
  const side = { connector, accountId: account.id, configurationId: row.configurationId }
  // A secret that is saved for another server from now on is not sent to the one that the values were read with.
  const frozen = { role, settings: row.settings } as const
  const opened = await openSide(
    { database, keyring, secretManagers },
    { ...side, frozen },
    { job: 'request', fresh: true },
    settings.values,
    references,
  ).catch(connectorErrorOf)
  if (opened instanceof ConnectorError) return { opened, entered, side }
  const secrets: Values = without({ ...opened.secrets, ...values })
  return { opened: { ...opened, secrets }, entered, side }
}

function connectorErrorOf(error: unknown): ConnectorError {
  const connectorError = asConnectorError(error)
  if (!connectorError) throw error
  return connectorError
}
