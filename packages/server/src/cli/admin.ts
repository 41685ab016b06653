import { limits, Name } from '@penstock/wire'
import { Check } from 'typebox/value'
import { restoreAccount } from '../accounts/accounts.ts'
import { type Config, ConfigError, masterKeyHint } from '../config.ts'
import { connectionsOfAccounts } from '../connections/connections.ts'
import type { Logger } from '../log.ts'
import {
  createClient,
  createOrganization,
  listClients,
  listOrganizations,
  revokeClient,
} from '../organizations/organizations.ts'
import { openKeyring } from '../secrets/keyring.ts'
import { rotateMasterKey } from '../secrets/rotate.ts'
import { generateMasterKey, parseMasterKey } from '../secrets/seal.ts'
import { type Ground, masterKeyFile, migrateGround, openGround, writePrivate } from './ground.ts'
import { print, printTable } from './print.ts'

/** The operator's commands. Each works beside a running service, on the same database. */

type Json = { json?: boolean }

async function onGround<T>(config: Config, log: Logger, work: (ground: Ground) => Promise<T>): Promise<T> {
  const ground = await openGround(config, log)
  try {
    await migrateGround(ground)
    return await work(ground)
  } finally {
    await ground.close()
  }
}

export const migrateDatabase = (config: Config, log: Logger, { json }: Json) =>
  onGround(config, log, async () => print({ migrated: true }, json, 'The database schema is up to date.'))

/** Characters of an e-mail address: what RFC 5321 leaves room for. */
const addressLengthMax = 254

export async function createOrganizationCommand(
  config: Config,
  log: Logger,
  { name, ownerEmail, json }: Json & { name: string; ownerEmail: string },
): Promise<void> {
  const faults: string[] = []
  if (!Check(Name, name)) {
    faults.push(`--name must have 1 to ${limits.nameLengthMax} characters, and no control characters.`)
  }
  if (ownerEmail.length > addressLengthMax || !/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(ownerEmail)) {
    faults.push('--owner-email must be an e-mail address, such as owner@example.com.')
  }
  if (faults.length > 0) throw new ConfigError(faults)
  const created = await onGround(config, log, ({ database }) =>
    database.transaction((tx) => createOrganization(tx, { name: name.trim(), ownerEmail })),
  )
  print(
    created,
    json,
    [
      `organization   ${created.organizationId}`,
      `client id      ${created.clientId}`,
      `client secret  ${created.clientSecret}   (shown this once)`,
    ].join('\n'),
  )
}

export async function listOrganizationsCommand(config: Config, log: Logger, { json }: Json): Promise<void> {
  const rows = await onGround(config, log, ({ database }) => listOrganizations(database))
  const list = rows.map(({ id, name, ownerId, ownerEmail, createdTime }) => ({
    organizationId: id,
    name,
    ownerId,
    ownerEmail,
    createdTime: createdTime.toISOString(),
  }))
  printTable(list, json, 'There is no organization yet.')
}

export async function createClientCommand(
  config: Config,
  log: Logger,
  { organization, json }: Json & { organization: string },
): Promise<void> {
  const created = await onGround(config, log, ({ database }) =>
    database.transaction((tx) => createClient(tx, organization)),
  )
  print(
    { organizationId: organization, ...created },
    json,
    `client id      ${created.clientId}\nclient secret  ${created.clientSecret}   (shown this once)`,
  )
}

export async function listClientsCommand(
  config: Config,
  log: Logger,
  { organization, json }: Json & { organization?: string },
): Promise<void> {
  const rows = await onGround(config, log, ({ database }) => listClients(database, organization ?? null))
  const list = rows.map(({ id, organizationId, createdTime, revokedTime }) => ({
    clientId: id,
    organizationId,
    createdTime: createdTime.toISOString(),
    revokedTime: revokedTime?.toISOString() ?? null,
  }))
  printTable(list, json, 'There are no clients.')
}

export async function revokeClientCommand(
  config: Config,
  log: Logger,
  clientId: string,
  { json }: Json,
): Promise<void> {
  await onGround(config, log, ({ database }) => database.transaction((tx) => revokeClient(tx, clientId)))
  print({ clientId, revoked: true }, json, `Client ${clientId} is revoked, and so is every token it held.`)
}

export async function restoreAccountCommand(
  config: Config,
  log: Logger,
  accountId: string,
  { json }: Json,
): Promise<void> {
  await onGround(config, log, ({ database }) =>
    database.transaction((tx) => restoreAccount(tx, accountId, connectionsOfAccounts)),
  )
  print(
    { accountId, restored: true },
    json,
    `Account ${accountId} is back; the connections deleted with it are disabled.`,
  )
}

/**
 * With a key file the new key is made here and put into the file; with PENSTOCK_MASTER_KEY the operator makes it, gives
 * it as PENSTOCK_NEXT_MASTER_KEY, and sets it as PENSTOCK_MASTER_KEY before the next start.
 */
export async function rotateKeyCommand(config: Config, log: Logger, { json }: Json): Promise<void> {
  const inFile = config.masterKey === undefined
  const text = inFile ? generateMasterKey() : undefined
  const next = text === undefined ? config.nextMasterKey : parseMasterKey(text)
  if (!next) {
    throw new ConfigError([
      `PENSTOCK_NEXT_MASTER_KEY is needed to rotate a key that is given by PENSTOCK_MASTER_KEY. ${masterKeyHint}, keep it safe, and give the same one until this command succeeded.`,
    ])
  }
  const resealed = await onGround(config, log, async ({ database, masterKey }) => {
    const keyring = await openKeyring(database, masterKey)
    return rotateMasterKey(database, keyring, next, async () => {
      if (text !== undefined) await writePrivate(masterKeyFile(config), `${text}\n`)
    })
  })
  const after = inFile
    ? `The new key is in ${masterKeyFile(config)}; keep a copy in a safe place.`
    : 'Set PENSTOCK_MASTER_KEY to the new key before anything is started again.'
  print({ keyId: next.id, resealed }, json, `Sealed ${resealed} secrets under key ${next.id}. ${after}`)
}
