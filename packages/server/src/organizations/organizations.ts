import type { AuditActor } from '@penstock/wire'
import { record, serviceActor } from '../audit/record.ts'
import type { Config } from '../config.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import { addClient, type Credentials } from './credentials.ts'
import {
  insertOrganization,
  lockOrganizations,
  type OrganizationRow,
  putEnvironment,
  saveSecondFactorRequired,
  selectOrganizations,
} from './queries.ts'

/**
 * Organizations (specification, section 5). They are the operator's: the command line manages them, no operation of the
 * interface does.
 */

/** Name of the client that is created with an organization. */
const firstClientName = 'First client'

/** Registers this deployment as an environment. `env` of resources that are created here refers to it. */
export const registerEnvironment = (db: Db, { environment }: Config) => putEnvironment.run(db, environment)

/** Creates an organization with its first client. */
export async function createOrganization(
  tx: Transaction,
  { name, ownerEmail, client }: { name: string; ownerEmail: string; client?: Credentials | undefined },
  actor: AuditActor = serviceActor,
): Promise<Credentials & { organizationId: string }> {
  const organizationId = newIdentifier()
  await insertOrganization.run(tx, { id: organizationId, name, ownerId: newIdentifier(), ownerEmail })
  const credentials = await addClient(tx, organizationId, { name: firstClientName, client })
  const after = { name, ownerEmail, clientId: credentials.clientId }
  record(tx, { organizationId, actor, action: 'org create', targetId: organizationId, after })
  return { organizationId, ...credentials }
}

/**
 * On a database without any organization, creates the first one.
 * @param keep puts the credentials where they can be found again, before the organization is there: a crash in between
 *   leaves credentials without an organization, which the next start replaces, never an organization without credentials
 * @returns its credentials, or undefined if there is an organization already
 */
export function createFirstOrganization(
  database: Database,
  client: Credentials | undefined,
  keep: (credentials: Credentials) => Promise<void>,
): Promise<Credentials | undefined> {
  return database.transaction(async (tx) => {
    // Processes that start together on a new database must not make one each.
    await lockOrganizations.run(tx, {})
    if ((await selectOrganizations.all(tx, {})).length > 0) return undefined
    const credentials = await createOrganization(tx, {
      name: 'First organization',
      ownerEmail: 'owner@localhost',
      client,
    })
    await keep({ clientId: credentials.clientId, clientSecret: credentials.clientSecret })
    return credentials
  })
}

/**
 * Stores whether the people of an organization need a second factor in addition to the password. Returns whether that changes
 * anything.
 */
export const setSecondFactorRequired = async (tx: Transaction, id: string, required: boolean): Promise<boolean> =>
  (await saveSecondFactorRequired.run(tx, { id, required })) > 0

export const listOrganizations = (db: Db): Promise<OrganizationRow[]> => selectOrganizations.all(db, {})
