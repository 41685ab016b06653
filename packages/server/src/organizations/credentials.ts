import { createHash, randomBytes } from 'node:crypto'
import type { FindNamed } from '../audit/sign-ins.ts'
import type { Grants } from '../call.ts'
import type { Db, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import {
  announceRevocation,
  type ClientRow,
  clientWithSecret,
  deleteTokensOfClient,
  findClientsById,
  insertClient,
  renameClient,
  revokeClient,
  rotateSecret,
  saveUse,
  selectClients,
} from './client-queries.ts'
import { organizationExists } from './queries.ts'

/** Client credentials, as the command line and the operations of clients manage them. */

/** Client credentials in plain text. They exist only on their way to the operator who asked for them. */
export type Credentials = { clientId: string; clientSecret: string }

/** Topic of notices about clients that were revoked or got another secret. The value is the client. */
export const revokedTopic = 'revoked'

/** How a client secret is stored and compared. Secrets are long and random, so no slow digest is needed. */
export const secretDigest = (secret: string): Buffer => createHash('sha256').update(secret).digest()

const newSecret = () => `pss_${randomBytes(32).toString('base64url')}`

/**
 * Creates a client of an organization; generated credentials unless given. Throws where the organization is unknown.
 * @param name what it is called
 * @param grants what it may do: everything unless given
 */
export async function addClient(
  tx: Transaction,
  organizationId: string,
  {
    name,
    client,
    grants = { scopes: null, accountIds: null },
    expiresTime = null,
  }: {
    name?: string | undefined
    client?: Credentials | undefined
    grants?: Grants
    expiresTime?: Date | null
  } = {},
): Promise<Credentials> {
  if (!(await organizationExists.first(tx, { id: organizationId }))) {
    throw new Error(`The organization ${organizationId} does not exist. penstock org list shows all organizations.`)
  }
  const credentials = client ?? { clientId: newIdentifier(), clientSecret: newSecret() }
  await insertClient.run(tx, {
    id: credentials.clientId,
    organizationId,
    secretDigest: secretDigest(credentials.clientSecret),
    name: name ?? null,
    ...grants,
    expiresTime,
  })
  return credentials
}

/**
 * Replaces the secret of a client. The present secret is accepted for `overlapHours` more hours. If that is 0, its tokens end
 * with it. Throws if the client does not exist or is revoked.
 */
export async function replaceSecret(tx: Transaction, id: string, overlapHours: number): Promise<Credentials> {
  const clientSecret = newSecret()
  if ((await rotateSecret.run(tx, { id, secretDigest: secretDigest(clientSecret), overlapHours })) === 0) {
    throw new Error(`The client ${id} cannot be found. penstock client list shows all clients.`)
  }
  if (overlapHours === 0) await deleteTokensOfClient.run(tx, { clientId: id })
  await announceRevocation.run(tx, { topic: revokedTopic, value: id })
  return { clientId: id, clientSecret }
}

/** Whether a client has these credentials and is not revoked. */
export const isCurrentClient = async (db: Db, { clientId, clientSecret }: Credentials): Promise<boolean> =>
  (await clientWithSecret.first(db, { id: clientId, secretDigest: secretDigest(clientSecret) })) !== undefined

/** Calls a client by another name. Throws if there is no such client. */
export async function changeName(db: Db, id: string, name: string): Promise<void> {
  if ((await renameClient.run(db, { id, name })) === 0) {
    throw new Error(`The client ${id} cannot be found. penstock client list shows all clients.`)
  }
}

/** The clients of an organization, or all of them. */
export const clientsOf = (db: Db, organizationId: string | null): Promise<ClientRow[]> =>
  selectClients.all(db, { organizationId })

/**
 * Revokes a client and all of its tokens. Running processes refuse them within seconds. Throws if the client does not exist or
 * is revoked already.
 */
export async function endClient(tx: Transaction, id: string): Promise<void> {
  if ((await revokeClient.run(tx, { id })) === 0) {
    throw new Error(`The client ${id} cannot be found. penstock client list shows all clients.`)
  }
  await deleteTokensOfClient.run(tx, { clientId: id })
  await announceRevocation.run(tx, { topic: revokedTopic, value: id })
}

/** The clients of a list that exist, revoked or not. */
export const findClientsNamed: FindNamed = async (db, ids) =>
  (await findClientsById.all(db, { ids })).map((row) => ({ ...row, given: row.id }))

/** Says that a client was just used, to the minute. */
export const noteUse = (db: Db, id: string): Promise<number> => saveUse.run(db, { id })
