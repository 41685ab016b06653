import { createHash, randomBytes } from 'node:crypto'
import type { Config } from '../config.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import {
  announceRevocation,
  type ClientRow,
  clientWithSecret,
  deleteTokensOfClient,
  insertClient,
  insertOrganization,
  lockOrganizations,
  revokeClient as markRevoked,
  type OrganizationRow,
  organizationExists,
  putEnvironment,
  renameClient as putName,
  selectClients,
  selectOrganizations,
} from './queries.ts'

/**
 * Organizations and their client credentials (specification, section 5). They are the operator's: the command line
 * manages them, no operation of the interface does.
 */

/** Client credentials in plain text; they exist only here, on their way to the operator who asked for them. */
export type Credentials = { clientId: string; clientSecret: string }

/** What the client is called that an organization is created with. */
export const firstClientName = 'First client'

/** What notices about revoked clients are called. */
export const revokedTopic = 'revoked'

/** How a client secret is stored and compared. Secrets are long and random, so no slow digest is needed. */
export const secretDigest = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/** Makes this deployment known as an environment; `env` of what is made here names it. */
export const registerEnvironment = (db: Db, { environment }: Config) => putEnvironment.run(db, environment)

/** Creates an organization with its first client. */
export async function createOrganization(
  tx: Transaction,
  { name, ownerEmail, client }: { name: string; ownerEmail: string; client?: Credentials | undefined },
): Promise<Credentials & { organizationId: string }> {
  const organizationId = newIdentifier()
  await insertOrganization.run(tx, { id: organizationId, name, ownerId: newIdentifier(), ownerEmail })
  return { organizationId, ...(await createClient(tx, organizationId, { name: firstClientName, client })) }
}

/**
 * On a database without any organization, creates the first one.
 * @param keep puts the credentials where they can be found again, before the organization is there: a crash in between
 *   leaves credentials without an organization, which the next start replaces, never an organization without credentials
 * @returns its credentials, or undefined where there is an organization already
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

export const listOrganizations = (db: Db): Promise<OrganizationRow[]> => selectOrganizations.all(db, {})

/**
 * Creates a client of an organization; generated credentials unless given. Throws where the organization is unknown.
 * @param name what the operator calls it
 */
export async function createClient(
  tx: Transaction,
  organizationId: string,
  { name, client }: { name?: string | undefined; client?: Credentials | undefined } = {},
): Promise<Credentials> {
  if (!(await organizationExists.first(tx, { id: organizationId }))) {
    throw new Error(`There is no organization ${organizationId}: penstock org list shows those there are.`)
  }
  const credentials = client ?? {
    clientId: newIdentifier(),
    clientSecret: `pss_${randomBytes(32).toString('base64url')}`,
  }
  await insertClient.run(tx, {
    id: credentials.clientId,
    organizationId,
    secretDigest: secretDigest(credentials.clientSecret),
    name: name ?? null,
  })
  return credentials
}

/** Whether a client has these credentials and is not revoked. */
export const isCurrentClient = async (db: Db, { clientId, clientSecret }: Credentials): Promise<boolean> =>
  (await clientWithSecret.first(db, { id: clientId, secretDigest: secretDigest(clientSecret) })) !== undefined

/** Calls a client by another name. Throws where there is no such client. */
export async function renameClient(db: Db, id: string, name: string): Promise<void> {
  if ((await putName.run(db, { id, name })) === 0) {
    throw new Error(`There is no client ${id} to rename: penstock client list shows those there are.`)
  }
}

/** The clients of an organization, or all of them. */
export const listClients = (db: Db, organizationId: string | null): Promise<ClientRow[]> =>
  selectClients.all(db, { organizationId })

/**
 * Revokes a client and every token it holds; running processes refuse them within seconds.
 * Throws where there is no such client that is not revoked already.
 */
export async function revokeClient(tx: Transaction, id: string): Promise<void> {
  if ((await markRevoked.run(tx, { id })) === 0) {
    throw new Error(`There is no client ${id} to revoke: penstock client list shows those there are.`)
  }
  await deleteTokensOfClient.run(tx, { clientId: id })
  await announceRevocation.run(tx, { topic: revokedTopic, value: '' })
}
