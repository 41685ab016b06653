import {
  type Connector,
  changedBindings,
  insecureAddresses,
  missingValues,
  readValues,
  rebindSecrets,
  showValue,
  type Values,
} from '@penstock/connector'
import { type FieldError, fieldCounts, isSecretReference } from '@penstock/wire'
import { configurationOfLink, requireScope } from '../access.ts'
import type { ActingAccount, Actor } from '../call.ts'
import type { Config } from '../config.ts'
import type { Db, Transaction } from '../db/database.ts'
import { violates } from '../db/errors.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'
import type { SecretManagers } from '../secret-managers/secret-managers.ts'
import type { Keyring } from '../secrets/keyring.ts'
import type { SecretOwner } from '../secrets/queries.ts'
import { saveSecrets, setSecrets } from '../secrets/secrets.ts'
import { identityValues } from './identity-values.ts'
import * as queries from './queries.ts'
import { filledByApp, missingForRole } from './readiness.ts'
import { byName, givenSecrets, referenceErrors, referencesIn } from './secret-references.ts'

/** Saves the configuration of an added connector. People and authorizations change it only through this module. */

/** Dependencies for saving a configuration. */
export type ConfigurationDeps = {
  readonly config: Config
  readonly keyring: Keyring
  readonly secretManagers: SecretManagers
}

/** The configuration to save. */
export type GivenConfiguration = {
  readonly secretConfig: Readonly<Record<string, unknown>>
  readonly name?: string | undefined
  readonly secretName?: string | undefined
  /** The client ID of the operator's app that the refresh token among the values was granted to. */
  readonly oauthClientId?: string
  /** The actor, unless an authorization saves it. */
  readonly actor?: Actor
}

/** Representation of a saved configuration in the audit log. */
export type AuditedConfiguration = {
  readonly before: object
  readonly after: object
  /** The names of secrets, and references, which are not secret. */
  readonly details: {
    readonly secretsSaved: readonly string[]
    readonly secretsCleared: readonly string[]
    readonly references?: Readonly<Record<string, string>>
  }
}

/**
 * Whether values differ in what the identity of the sub-account signs in to, if it signs in with the values before or after. Like
 * a change of a secret, this requires `secrets:write`.
 */
export function changesTarget({ secrets }: Connector, before: Values, after: Values): boolean {
  const fields = Object.entries(secrets)
  const signsInByIdentity = (values: Values) =>
    fields.some(([key, { identity }]) => identity === 'subject' && fieldCounts(secrets, key, values))
  if (!signsInByIdentity(before) && !signsInByIdentity(after)) return false
  return fields.some(
    ([key, field]) =>
      field.identity === 'target' && showValue(before[key] ?? field.default) !== showValue(after[key] ?? field.default),
  )
}

/** How many connections a refusal names. */
export const usersNamedMax = 10

/**
 * Saves values: given keys are replaced, omitted keys stay, null clears. Stored secrets do not follow to a new destination, and
 * no secret goes over http:// unless the operator allows it for that host. Refuses with `forbidden` if a secret would change
 * and the actor is not allowed to change secrets. Refuses with `configuration_exists` if another configuration of the connector
 * has the name.
 * @param row the configuration, locked
 * @returns the row after the change, and what the audit log keeps of the change: of secrets only their names
 */
export async function saveConfiguration(
  tx: Transaction,
  connector: Connector,
  account: ActingAccount,
  row: queries.ConfigurationRow,
  given: GivenConfiguration,
  { config, keyring, secretManagers }: ConfigurationDeps,
): Promise<{ now: queries.ConfigurationRow; audited: AuditedConfiguration }> {
  const owner = { accountId: account.id, connectorId: connector.id, configurationId: row.configurationId }
  const current = await currentValues(tx, account, row)
  const { set, cleared, ...read } = readConfiguration(connector, current, given.secretConfig, {
    shown: identityValues(connector, config, account),
    repeats: given.actor !== undefined && !given.actor.link,
  })
  const oauthClientId = given.oauthClientId ?? clientLeft(connector, row, set, cleared)
  const isSecret = (key: string) => connector.secrets[key]?.type === 'Password'
  const secretName = given.secretName?.trim() ?? row.secretName
  const merged: Record<string, Values[string]> = { ...current, ...set }
  for (const key of cleared) delete merged[key]
  // With another name, they refer to another secret.
  const renamed = secretName === row.secretName ? {} : byName(referencesIn(only(merged, isSecret)))
  const isRebound = changedBindings(connector.secrets, current, merged).length > 0
  const isSame = (key: string) => !isRebound && isSecretReference(set[key]) && set[key] === current[key]
  const changes = [...Object.keys(set).filter((key) => !isSame(key)), ...cleared, ...Object.keys(renamed)]
  if (given.actor && (changes.some(isSecret) || changesTarget(connector, current, merged))) {
    requireScope(given.actor, 'secrets:write')
  }
  const referring = { account, connectorId: connector.id, secretName, actor: given.actor }
  const references = { ...(given.actor ? referencesIn(only(set, isSecret)) : {}), ...renamed }
  const refused = referenceErrors(references, referring, secretManagers)
  const filled = { ...merged, ...filledByApp(connector, { oauthClientId }) }
  requireValid(connector, [...read.fieldErrors, ...refused], filled, config)

  await requireActiveReady(tx, connector, owner, filled)
  const secrets = givenSecrets(only(set, isSecret) as Record<string, string>, referring)
  await saveSecrets(tx, keyring, owner, secrets, cleared.filter(isSecret))
  const change = {
    name: given.name?.trim() ?? row.name,
    secretName,
    oauthClientId,
  }
  const settings = only(merged, (key) => !isSecret(key))
  const saved = await uniqueName(() =>
    queries.saveConfiguration.first(tx, { ...owner, ...change, settings: JSON.stringify(settings) }),
  )
  const now = { ...row, ...change, ...saved, settings: settings as Values, configured: true }
  const details = {
    configurationId: row.configurationId,
    secretsSaved: Object.keys(set).filter(isSecret),
    secretsCleared: cleared.filter((key) => isSecret(key) && key in current),
    ...(Object.keys(references).length > 0 && { references }),
  }
  return { now, audited: { before: auditedOf(row), after: auditedOf(now), details } }
}

/**
 * Values of a request, applied to the current values: the values that it sets and clears, and its errors.
 * @param shown values that fields show although they are not stored, so that they can be sent back
 * @param repeats whether saved references to a secret manager go to another destination as if they were entered again: everyone
 *   who may read the configuration can enter them
 */
export function readConfiguration(
  { secrets }: Connector,
  current: Values,
  given: GivenConfiguration['secretConfig'],
  { shown, repeats = false }: { readonly shown: Values; readonly repeats?: boolean },
): { readonly set: Values; readonly cleared: string[]; readonly fieldErrors: readonly FieldError[] } {
  const reading = readValues(secrets, given, 'body.secretConfig', { ...current, ...shown })
  if (repeats && changedBindings(secrets, current, { ...current, ...reading.set }).length > 0) {
    const kept = Object.entries(referencesIn(current)).filter(([key]) => !reading.cleared.includes(key))
    reading.set = { ...Object.fromEntries(kept), ...reading.set }
  }
  const rebinding = rebindSecrets(secrets, current, reading, 'body.secretConfig')
  return {
    set: reading.set,
    cleared: [...reading.cleared, ...rebinding.dropped],
    fieldErrors: [...reading.fieldErrors, ...withoutRepeats(rebinding.fieldErrors, reading.fieldErrors)],
  }
}

/** Refuses a configuration with errors, with missing values, or that would send a secret over http:// to where the operator does not allow it. */
export function requireValid(
  { secrets }: Connector,
  known: readonly FieldError[],
  values: Values,
  { plainHttp }: Pick<Config, 'plainHttp'>,
): void {
  const insecure = insecureAddresses(secrets, values, plainHttp)
  const fieldErrors = [
    ...known,
    ...insecure.map(({ key, message }) => ({ field: `body.secretConfig.${key}`, message })),
  ]
  refuseFieldErrors([
    ...fieldErrors,
    ...withoutRepeats(missingValues(secrets, values, 'body.secretConfig'), fieldErrors),
  ])
}

/** A configuration as the audit log keeps it: its settings are no secrets. */
const auditedOf = ({ name, secretName, configured, oauthClientId, settings }: queries.ConfigurationRow) => ({
  name,
  secretName,
  configured,
  oauthClientId,
  settings,
})

/**
 * The app of the operator that the connector still uses after this change. A client or a token that the account saves itself
 * replaces it. Another client cannot use the grant of the app, so the grant is deleted and its keys are added to `cleared`.
 */
function clientLeft(
  { authorization }: Connector,
  { oauthClientId }: queries.ConfigurationRow,
  set: Values,
  cleared: string[],
): string | null {
  if (oauthClientId === null || !authorization) return null
  const { client, refreshToken } = authorization
  const isTouched = [client.id, client.secret, refreshToken].some((key) => key in set || cleared.includes(key))
  if (!isTouched) return oauthClientId
  if (!(refreshToken in set) && !cleared.includes(refreshToken)) cleared.push(refreshToken)
  return null
}

/**
 * Active connections must stay complete, as when their own settings are changed: the configuration must keep what their source
 * and destination need.
 */
async function requireActiveReady(
  tx: Transaction,
  connector: Connector,
  owner: SecretOwner,
  settings: Values,
): Promise<void> {
  const lacking = connector.roles
    .map((role) => ({
      role,
      fieldErrors: missingForRole(
        connector,
        role,
        { settings, secretNames: [], oauthClientId: null },
        'body.secretConfig',
      ),
    }))
    .filter(({ fieldErrors }) => fieldErrors.length > 0)
  if (lacking.length === 0) return
  const roles = lacking.map(({ role }) => role)
  const users = await queries.activeConnectionsUsing.all(tx, { ...owner, roles, limit: usersNamedMax })
  if (users.length === 0) return
  const fieldErrors = lacking.flatMap((one) => one.fieldErrors)
  refuse('connection_not_ready', [
    ...fieldErrors.filter(
      ({ field }, index) => fieldErrors.findIndex((fieldError) => fieldError.field === field) === index,
    ),
    ...users.map(({ id, name }) => ({ field: `connection.${id}`, message: `${name} is active and needs it` })),
  ])
}

const only = (values: Values, wanted: (key: string) => boolean): Record<string, Values[string]> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => wanted(key)))

/** The values that are set. Secrets are empty texts, since only their presence matters here, or references. */
export async function currentValues(
  db: Db,
  account: Pick<ActingAccount, 'id'>,
  row: queries.ConfigurationRow,
): Promise<Values> {
  const { connectorId, configurationId } = row
  const secrets = await setSecrets(db, { accountId: account.id, connectorId, configurationId })
  return { ...row.settings, ...Object.fromEntries(secrets.map(({ name, reference }) => [name, reference ?? ''])) }
}

/** A field that has an error already is not also called missing. */
const withoutRepeats = (fieldErrors: readonly FieldError[], known: readonly FieldError[]) =>
  fieldErrors.filter(({ field }) => !known.some((fieldError) => fieldError.field === field))

/** Runs a statement that names a configuration. Refuses with `configuration_exists` where another one has the name. */
export async function uniqueName<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (violates(error, 'configurations_name')) {
      refuse('configuration_exists', [{ field: 'body.name', message: 'is the name of another configuration' }])
    }
    throw error
  }
}

/** A configuration of an added connector. Null means the first configuration. `undefined` if it does not exist. */
export const findConfiguration = (db: Db, of: queries.OfConfiguration): Promise<queries.ConfigurationRow | undefined> =>
  queries.findConfiguration.first(db, of)

/** The same, locked for a change. */
export const lockConfiguration = (
  tx: Transaction,
  of: queries.OfConfiguration,
): Promise<queries.ConfigurationRow | undefined> => queries.lockConfiguration.first(tx, of)

/** The connector of each of these configurations that the sub-account has, by the configuration. */
export async function connectorsOfConfigurations(
  db: Db,
  accountId: string,
  configurationIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (configurationIds.length === 0) return new Map()
  const rows = await queries.connectorsOfConfigurations.all(db, { accountId, configurationIds })
  return new Map(rows.map(({ configurationId, connectorId }) => [configurationId, connectorId]))
}

/** The configuration that a request names. */
export type WantedConfiguration = {
  readonly actor: Actor
  readonly accountId: string
  readonly connectorId: string
  /** `undefined` means the first configuration, or the configuration of the connect link of the page. */
  readonly configurationId: string | undefined
  /** Its place in the request, for the refusal. */
  readonly field: string
}

/**
 * Finds the configuration that a request names. Refuses with `connector_not_added`. Refuses with `not_found` a configuration
 * that does not belong to this connector in this sub-account, or to the connect link.
 * @param find `lockConfiguration` to change it
 */
export async function requireConfiguration<D extends Db>(
  db: D,
  { actor, accountId, connectorId, configurationId: given, field }: WantedConfiguration,
  find: (db: D, of: queries.OfConfiguration) => Promise<queries.ConfigurationRow | undefined>,
): Promise<queries.ConfigurationRow> {
  const owner = { accountId, connectorId }
  const configurationId = actor.link ? configurationOfLink(actor.link, connectorId) : (given ?? null)
  const row = await find(db, { ...owner, configurationId })
  if (row && (given === undefined || given === row.configurationId)) return row
  if (!row && !(await queries.isAdded.first(db, owner))) refuse('connector_not_added')
  return refuse('not_found', [{ field, message: 'is not a configuration of this connector in this sub-account' }])
}
