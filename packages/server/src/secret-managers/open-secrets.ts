import { asConnectorError, type ConnectorErrorCode } from '@penstock/connector'
import { recordNow, serviceActor } from '../audit/record.ts'
import { createViews } from '../audit/views.ts'
import type { Db } from '../db/database.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { type SecretOwner, tenantOf } from '../secrets/queries.ts'
import { openStoredSecrets } from '../secrets/secrets.ts'
import type { SecretManagers } from './secret-managers.ts'

/** Opening the secrets of a configuration for a job, with the values that secret managers have. */

export type SecretsDeps = {
  readonly database: Db
  readonly keyring: Keyring
  readonly secretManagers: SecretManagers
}

/** The job that needs secrets, for the audit log. */
export type SecretUse = {
  /** `transfer`, `check`, `preview`, … */
  readonly job: string
  /** The transfer. */
  readonly id?: string
  /** A person waits, and may have just saved another value in the secret manager: it is read again. */
  readonly fresh?: boolean
}

/** Why secrets cannot be used. */
export type SecretRefusal = { readonly code: ConnectorErrorCode; readonly message: string }

export type SecretsForJob = {
  readonly values: Readonly<Record<string, string>>
  /** Why a reference could not be read. Its values are missing then. */
  readonly refusal?: SecretRefusal
}

/** A job that is repeated has one event within an hour. */
const views = createViews()

/**
 * Opens what is stored, and reads what references name.
 * @param entered references that are not saved yet, in place of the stored secrets with the same names
 */
export async function openSecretsForJob(
  deps: SecretsDeps,
  owner: SecretOwner,
  use: SecretUse,
  entered: Readonly<Record<string, string>> = {},
): Promise<SecretsForJob> {
  const stored = await openStoredSecrets(deps.database, deps.keyring, owner)
  const references = { ...stored.references, ...entered }
  if (Object.keys(references).length === 0) return { values: stored.values }
  const tenant = await tenantOf.first(deps.database, owner)
  if (!tenant) return { values: stored.values }
  const of = { ...tenant, accountId: owner.accountId }
  const values: Record<string, string> = { ...stored.values }
  try {
    for (const [name, reference] of Object.entries(references)) {
      values[name] = await deps.secretManagers.read(reference, of, use.fresh)
    }
  } catch (error) {
    const known = asConnectorError(error)
    if (!known) throw error
    return { values: stored.values, refusal: { code: known.code, message: known.message } }
  }
  await recordRead(deps.database, { ...of, ...owner }, use, references)
  return { values }
}

/** Values are not used before their event is written. */
function recordRead(
  db: Db,
  { organizationId, accountId, configurationId }: SecretOwner & { readonly organizationId: string },
  { job, id }: SecretUse,
  references: Readonly<Record<string, string>>,
): Promise<void> {
  const entry = {
    organizationId,
    actor: serviceActor,
    action: 'readSecrets',
    accountId,
    targetId: configurationId,
    details: { job, ...(id !== undefined && { transferId: id }), references },
  }
  return views.once(JSON.stringify([accountId, configurationId, job, id, references]), () => recordNow(db, [entry]))
}
