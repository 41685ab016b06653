import { limits, namePattern, type Scope, scopeNames } from '@penstock/wire'
import { accountsOf, deletedAccountsOf, restoreAccount } from '../accounts/accounts.ts'
import { type AuditEntry, operatorActor, record } from '../audit/record.ts'
import { type Config, ConfigError } from '../config.ts'
import { databaseNow } from '../db/clock.ts'
import type { Transaction } from '../db/database.ts'
import type { Logger } from '../log.ts'
import {
  addClient,
  changeName,
  clientsOf,
  endClient,
  findClientsNamed,
  replaceSecret,
} from '../organizations/credentials.ts'
import { createOrganization, listOrganizations } from '../organizations/organizations.ts'
import { print, printTable } from './print.ts'
import { withRuntime } from './runtime.ts'

/** The operator's commands. Each works next to a running service, on the same database. */

type Json = { json?: boolean }

export const migrateDatabase = (config: Config, log: Logger, { json }: Json) =>
  withRuntime(config, log, async () => print({ migrated: true }, json, 'The database schema is up to date.'))

const isName = new RegExp(namePattern, 'u')

const errorsOfName = (what: string, name: string): string[] =>
  isName.test(name) ? [] : [`${what} must have 1 to ${limits.nameLengthMax} characters, and no control characters.`]

/** @throws ConfigError if there are any */
function refuseFieldErrors(fieldErrors: readonly string[]): void {
  if (fieldErrors.length > 0) throw new ConfigError(fieldErrors)
}

/** Characters of an e-mail address: the limit of RFC 5321. */
const addressLengthMax = 254

export async function createOrganizationCommand(
  config: Config,
  log: Logger,
  { name, ownerEmail, json }: Json & { name: string; ownerEmail: string },
): Promise<void> {
  const fieldErrors = errorsOfName('--name', name)
  if (ownerEmail.length > addressLengthMax || !/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(ownerEmail)) {
    fieldErrors.push('--owner-email must be an e-mail address, such as owner@example.com.')
  }
  refuseFieldErrors(fieldErrors)
  const created = await withRuntime(config, log, ({ database }) =>
    database.transaction((tx) => createOrganization(tx, { name: name.trim(), ownerEmail }, operatorActor())),
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

export async function listOrganizationsCommand(
  config: Config,
  log: Logger,
  { figures, json }: Json & { figures?: boolean },
): Promise<void> {
  if (figures) return (await import('./organizations.ts')).listFigures(config, log, json ?? false)
  const rows = await withRuntime(config, log, ({ database }) => listOrganizations(database))
  const list = rows.map(({ id, name, ownerId, ownerEmail, createdTime }) => ({
    organizationId: id,
    name,
    ownerId,
    ownerEmail,
    createdTime: createdTime.toISOString(),
  }))
  printTable(list, json, 'There is no organization yet.')
}

/** Records what the operator did with a client. */
function recordOnClient(
  tx: Transaction,
  [client]: Awaited<ReturnType<typeof findClientsNamed>>,
  action: string,
  change: Pick<AuditEntry, 'before' | 'after' | 'details'>,
): void {
  if (!client) return
  record(tx, { organizationId: client.organizationId, actor: operatorActor(), action, targetId: client.id, ...change })
}

export async function createClientCommand(
  config: Config,
  log: Logger,
  {
    organization,
    name,
    scope = null,
    account = null,
    expires,
    json,
  }: Json & {
    organization: string
    name?: string
    scope?: string[] | null
    account?: string[] | null
    expires?: string
  },
): Promise<void> {
  const isKnown = (text: string): text is Scope => (scopeNames as readonly string[]).includes(text)
  const expiresTime = expires === undefined ? null : new Date(expires)
  const fieldErrors = [
    ...(name === undefined ? [] : errorsOfName('--name', name)),
    ...(scope ?? [])
      .filter((text) => !isKnown(text))
      .map((text) => `The scope ${text} does not exist. Choose one of ${scopeNames.join(', ')}.`),
  ]
  const inTheFuture = '--expires must be a time in the future, such as 2030-01-31 or 2030-01-31T12:00:00Z.'
  if (expiresTime && Number.isNaN(expiresTime.getTime())) fieldErrors.push(inTheFuture)
  refuseFieldErrors(fieldErrors)
  const created = await withRuntime(config, log, ({ database }) =>
    database.transaction(async (tx) => {
      if (expiresTime && expiresTime <= (await databaseNow(tx))) refuseFieldErrors([inTheFuture])
      const accounts = account && (await accountsOf(tx, organization)).map(({ id }) => id)
      const unknown = account?.filter((id) => !accounts?.includes(id)) ?? []
      refuseFieldErrors(unknown.map((id) => `The sub-account ${id} does not exist in organization ${organization}.`))
      const grants = { scopes: scope?.filter(isKnown) ?? null, accountIds: account }
      const credentials = await addClient(tx, organization, { name: name?.trim(), grants, expiresTime })
      const after = { name: name?.trim() ?? null, ...grants, expiresTime }
      const { clientId: targetId } = credentials
      const done = { actor: operatorActor(), action: 'client create', targetId, after }
      record(tx, { organizationId: organization, ...done })
      return credentials
    }),
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
  const rows = await withRuntime(config, log, ({ database }) => clientsOf(database, organization ?? null))
  const list = rows.map(({ id, name, organizationId, scopes, accountIds, ...row }) => ({
    clientId: id,
    name,
    organizationId,
    scopes,
    accountIds,
    createdTime: row.createdTime.toISOString(),
    expiresTime: row.expiresTime?.toISOString() ?? null,
    lastUsedTime: row.lastUsedTime?.toISOString() ?? null,
    revokedTime: row.revokedTime?.toISOString() ?? null,
  }))
  printTable(list, json, 'There are no clients.')
}

export async function renameClientCommand(
  config: Config,
  log: Logger,
  clientId: string,
  name: string,
  { json }: Json,
): Promise<void> {
  refuseFieldErrors(errorsOfName('The name', name))
  const trimmed = name.trim()
  await withRuntime(config, log, ({ database }) =>
    database.transaction(async (tx) => {
      const was = await findClientsNamed(tx, [clientId])
      await changeName(tx, clientId, trimmed)
      recordOnClient(tx, was, 'client rename', { before: { name: was[0]?.name ?? null }, after: { name: trimmed } })
    }),
  )
  print({ clientId, name: trimmed }, json, `Client ${clientId} has the name ${trimmed}.`)
}

export async function rotateClientCommand(
  config: Config,
  log: Logger,
  clientId: string,
  { overlapHours = String(limits.rotationOverlapHoursDefault), json }: Json & { overlapHours?: string },
): Promise<void> {
  const hours = Number(overlapHours)
  if (!Number.isInteger(hours) || hours < 0 || hours > limits.rotationOverlapHoursMax || overlapHours.trim() === '') {
    refuseFieldErrors([`--overlap-hours must be a whole number from 0 to ${limits.rotationOverlapHoursMax}.`])
  }
  const { clientSecret } = await withRuntime(config, log, ({ database }) =>
    database.transaction(async (tx) => {
      const replaced = await replaceSecret(tx, clientId, hours)
      const details = { overlapHours: hours }
      recordOnClient(tx, await findClientsNamed(tx, [clientId]), 'client rotate', { details })
      return replaced
    }),
  )
  const until =
    hours === 0
      ? 'The secret before is refused from now on, and so are the tokens that it got.'
      : `The secret before is accepted for ${hours} more hours.`
  print({ clientId, clientSecret }, json, `client secret  ${clientSecret}   (shown this once)\n${until}`)
}

export async function revokeClientCommand(
  config: Config,
  log: Logger,
  clientId: string,
  { json }: Json,
): Promise<void> {
  await withRuntime(config, log, ({ database }) =>
    database.transaction(async (tx) => {
      await endClient(tx, clientId)
      recordOnClient(tx, await findClientsNamed(tx, [clientId]), 'client revoke', {})
    }),
  )
  print({ clientId, revoked: true }, json, `Client ${clientId} is revoked, and so is every token it held.`)
}

export async function listAccountsCommand(
  config: Config,
  log: Logger,
  { organization = null, deleted, json }: Json & { organization?: string | null; deleted?: boolean },
): Promise<void> {
  const rows = await withRuntime(config, log, ({ database }) =>
    deleted ? deletedAccountsOf(database, organization) : accountsOf(database, organization),
  )
  const list = rows.map(({ id, ...row }) => ({
    accountId: id,
    ...Object.fromEntries(
      Object.entries(row).map(([key, value]) => [key, value instanceof Date ? value.toISOString() : value]),
    ),
  }))
  const none = 'There are no sub-accounts.'
  const noneDeleted = `No sub-account was deleted within the last ${limits.restoreWindowDays} days.`
  printTable(list, json, deleted ? noneDeleted : none)
}

export async function restoreAccountCommand(
  config: Config,
  log: Logger,
  accountId: string,
  { json }: Json,
): Promise<void> {
  const { connectionsOfAccounts } = await import('../connections/connections.ts')
  const operator = operatorActor()
  await withRuntime(config, log, ({ database }) =>
    database.transaction((tx) => restoreAccount(tx, accountId, connectionsOfAccounts, operator), operator),
  )
  print(
    { accountId, restored: true },
    json,
    `Account ${accountId} is back; the connections deleted with it are disabled.`,
  )
}
