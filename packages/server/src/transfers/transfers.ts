import { isDeepStrictEqual } from 'node:util'
import { type Connector, movesIn, type Values } from '@penstock/connector'
import {
  type BodyOf,
  mayTransfer,
  type Transfer,
  type TransferRange,
  type TransferTrigger,
  transferStatuses,
} from '@penstock/wire'
import type { ActingAccount, Actor, Answer, Call } from '../call.ts'
import type { ConnectionDeps } from '../connections/connections.ts'
import { type ReadSettings, readSettings, requireToDirectSecrets, sides } from '../connections/sides.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Db, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import type { IdentityTokens } from '../identity-tokens/identity-tokens.ts'
import { requireRowsLeft } from '../organizations/limits.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'
import type { SecretManagers } from '../secret-managers/secret-managers.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { requireBackfill } from './backfills.ts'
import { blackoutEnd } from './blackouts.ts'
import { requireMovable } from './connection-tables.ts'
import type { Discoveries } from './discoveries.ts'
import type { InteractiveJobs } from './interactive.ts'
import { transferList, wideTransferList } from './list-queries.ts'
import * as queries from './queries.ts'
import { replacesAll } from './sides.ts'
import { viewTransfer } from './view.ts'

/** Transfers of connections: requested here, supervised in `supervisor/`, run in runners. */

/** Dependencies of the handlers of transfers. */
export type TransferDeps = ConnectionDeps & {
  readonly keyring: Keyring
  readonly secretManagers: SecretManagers
  readonly identityTokens: IdentityTokens
  readonly interactive: InteractiveJobs
  readonly discoveries: Discoveries
}

/** A connection that exists in the account. */
export async function requireConnection(db: Db, account: ActingAccount, id: string): Promise<queries.RunnableRow> {
  return (await queries.findRunnable.first(db, { accountId: account.id, id })) ?? refuse('not_found')
}

/** Refuses with `transfer_not_supported`, naming each side that data cannot move through. */
export function requireIntegrated(
  catalogue: Catalogue,
  row: Pick<queries.RunnableRow, 'srcConnectorId' | 'destConnectorId'>,
): void {
  const source = catalogue.known(row.srcConnectorId)
  const destination = catalogue.known(row.destConnectorId)
  const cannot = (field: string, { name, integrated }: Connector, role: string) => ({
    field,
    message: integrated
      ? `${name} moves no data as a ${role} yet`
      : `${name} is a catalogue entry only: no data moves through it yet`,
  })
  refuseFieldErrors(
    [
      ...(movesIn(source, 'Source') ? [] : [cannot('srcConnector', source, 'source')]),
      ...(movesIn(destination, 'Destination') ? [] : [cannot('destConnector', destination, 'destination')]),
    ],
    'transfer_not_supported',
  )
}

/** Refuses with `connection_not_active` or `account_disabled` if no transfer may start at present. */
export function requireRunnable({
  status,
  accountEnabled,
}: Pick<queries.RunnableRow, 'status' | 'accountEnabled'>): void {
  if (!mayTransfer(status)) refuse('connection_not_active')
  if (!accountEnabled) refuse('account_disabled')
}

/**
 * Reads the settings of a single transfer against the fields of both sides. Refuses with `forbidden` who may not write secrets,
 * if one of them says where a secret goes.
 * @param read `readFieldValues` where a mapping need not be one
 */
export function readRunTimeConfigs(
  catalogue: Catalogue,
  actor: Actor,
  row: Pick<queries.RunnableRow, 'srcConnectorId' | 'destConnectorId' | 'srcConfig' | 'destConfig'>,
  body: Pick<BodyOf<'previewConnection'>, 'srcConnectionConfig' | 'destConnectionConfig'>,
  read: ReadSettings = readSettings,
): { srcConfig: Values; destConfig: Values } {
  const [src, dest] = sides.map(({ key, role }) =>
    read(
      catalogue.known(row[`${key}ConnectorId`]),
      role,
      body[`${key}ConnectionConfig`] ?? {},
      `body.${key}ConnectionConfig`,
    ),
  )
  refuseFieldErrors([...(src?.fieldErrors ?? []), ...(dest?.fieldErrors ?? [])])
  const configs = { srcConfig: src?.values ?? {}, destConfig: dest?.values ?? {} }
  for (const { key, role } of sides) {
    const config = `${key}Config` as const
    requireToDirectSecrets(actor, catalogue.known(row[`${key}ConnectorId`]), role, row[config], configs[config])
  }
  return configs
}

type Start = {
  trigger: TransferTrigger
  replayOf?: string
  /** Which of its rejected records it sends; null: all. */
  replayRows?: 'ready' | 'corrected' | null
  srcConfig?: Values
  destConfig?: Values
  confirmed?: boolean
  /** At most how many records it reads, as a test. */
  testRows?: number | null
  /** The range that it reads, as a backfill. */
  backfill?: TransferRange | null
  /** The only tables that it moves. */
  tables?: readonly string[] | null
  /** The trace of the request that starts it. */
  traceparent?: string | null
}

/** Starts a transfer, or finds the one that is active: never two at once for one connection. */
export async function startTransfer(
  { db: tx, actor, account, id, body, traceparent }: Call<'startTransfer'>,
  deps: TransferDeps,
): Promise<Answer<'startTransfer'>> {
  const { catalogue } = deps
  const row = (await queries.holdRunnable.first(tx, { accountId: account.id, id })) ?? refuse('not_found')
  requireIntegrated(catalogue, row)
  const configs = readRunTimeConfigs(catalogue, actor, row, body)
  if (body.test) requireTestable(catalogue, row, configs.destConfig)
  if (body.backfill) requireBackfill(catalogue, row, configs, body)
  if (body.tables) await requireMovable(tx, id, body.tables)
  const start: Start = {
    trigger: 'manual',
    ...configs,
    traceparent,
    confirmed: body.confirm ?? false,
    testRows: body.test?.rows ?? null,
    backfill: body.backfill ?? null,
    tables: body.tables ? [...body.tables].sort() : null,
  }
  const begun = await begin(tx, row, start, deps)
  const settings = { srcConnectionConfig: configs.srcConfig, destConnectionConfig: configs.destConfig }
  return { ...begun, audited: { after: { ...begun.reply, ...settings } } }
}

/** Refuses a test with `test_not_supported` if its few records would replace everything at the destination. */
function requireTestable(catalogue: Catalogue, row: queries.RunnableRow, destConfig: Values): void {
  if (!replacesAll(catalogue, { ...row, destConfig: { ...row.destConfig, ...destConfig } })) return
  const message = 'replaces everything with what it is sent, and so with the few records of a test'
  refuse('test_not_supported', [{ field: 'destConnectionConfig', message }])
}

/** Writes a transfer and the job that wakes a worker for it, where the connection may run now. */
export async function begin(
  tx: Transaction,
  row: queries.RunnableRow,
  {
    trigger,
    replayOf,
    replayRows = null,
    srcConfig = {},
    destConfig = {},
    confirmed = false,
    testRows = null,
    backfill = null,
    tables = null,
    traceparent = null,
  }: Start,
  { config }: Pick<TransferDeps, 'config'>,
): Promise<{ reply: Transfer; already: boolean }> {
  requireRunnable(row)
  const active = await queries.findActive.first(tx, { connectionId: row.id })
  // None is taken for the other: tests, backfills and transfers of some tables send other records.
  const isSame =
    active &&
    (active.testRows === null) === (testRows === null) &&
    isDeepStrictEqual([active.backfill, active.tables], [backfill, tables])
  if (active && !isSame) refuse('transfer_active')
  if (active) return { reply: viewTransfer(active), already: true }
  const until = row.blackout && blackoutEnd(row.blackout, row.now)
  if (until)
    refuse('transfer_blacked_out', [
      { field: 'id', message: `starts no transfers until ${until.toISOString()} (blackout)` },
    ])
  await requireRowsLeft(tx, config, row.organizationId)
  const id = newIdentifier()
  const inserted = await queries.insertTransfer.first(tx, {
    id,
    organizationId: row.organizationId,
    accountId: row.accountId,
    connectionId: row.id,
    srcConnectorId: row.srcConnectorId,
    destConnectorId: row.destConnectorId,
    srcConfigurationId: row.srcConfigurationId,
    destConfigurationId: row.destConfigurationId,
    trigger,
    replayOf: replayOf ?? null,
    replayRows,
    // A transfer runs with the settings that it starts with.
    srcConfig: JSON.stringify({ ...row.srcConfig, ...srcConfig }),
    destConfig: JSON.stringify({ ...row.destConfig, ...destConfig }),
    confirmed,
    testRows,
    backfill: backfill && JSON.stringify(backfill),
    tables,
    traceparent,
  })
  if (!inserted) throw new Error(`Transfer ${id} was not made`)
  await queries.wakeWorkers.run(tx, {})
  return { reply: viewTransfer(inserted), already: false }
}

export async function listTransfers({
  db,
  account,
  id: connectionId,
  query: { status, sort = '-created', size, offset },
}: Call<'listTransfers'>): Promise<Answer<'listTransfers'>> {
  await requireConnection(db, account, connectionId)
  const statuses = status ? [status] : transferStatuses
  const filter = { connectionId, status: status ?? null, statuses, sort }
  const statements = transferList(filter)
  const [rows, count] = await Promise.all([
    statements.list.all(db, { ...filter, size, offset }),
    statements.count.first(db, filter),
  ])
  return { reply: rows.map(viewTransfer), total: count?.total ?? 0 }
}

/** Transfers of all connections of a sub-account or of the organization, without those of connections that are gone. */
export async function listAllTransfers({
  db,
  actor,
  account,
  query: { status, latest, connectionIds, sort = '-created', size, offset },
}: Call<'listAllTransfers'>): Promise<Answer<'listAllTransfers'>> {
  const filter = {
    organizationId: actor.organizationId,
    accountId: account?.id ?? null,
    accountIds: actor.accountIds,
    statuses: status ? [status] : transferStatuses,
    latest: latest ?? false,
    connectionIds: connectionIds?.split(',') ?? null,
    sort,
  }
  const statements = wideTransferList(filter)
  const [rows, count] = await Promise.all([
    statements.list.all(db, { ...filter, size, offset }),
    statements.count.first(db, filter),
  ])
  return { reply: rows.map(viewTransfer), total: count?.total ?? 0 }
}

export async function getTransfer({
  db,
  account,
  id,
  transferId,
}: Call<'getTransfer'>): Promise<Answer<'getTransfer'>> {
  return { reply: await requireTransfer(db, account, id, transferId) }
}

/** A transfer that exists of a connection in the account. */
export async function requireTransfer(
  db: Db,
  account: ActingAccount,
  connectionId: string,
  id: string,
): Promise<Transfer> {
  await requireConnection(db, account, connectionId)
  const row = await queries.findTransfer.first(db, { accountId: account.id, connectionId, id })
  return viewTransfer(row ?? refuse('not_found'))
}

/** Stops a transfer at its next batch; one that waits ends at once. Repeating changes nothing. */
export async function cancelTransfer({
  db: tx,
  account,
  id: connectionId,
  transferId: id,
}: Call<'cancelTransfer'>): Promise<Answer<'cancelTransfer'>> {
  await requireConnection(tx, account, connectionId)
  const row = (await queries.lockTransfer.first(tx, { accountId: account.id, connectionId, id })) ?? refuse('not_found')
  if (row.status === 'cancelled') return { reply: viewTransfer(row), audited: { unchanged: true } }
  const reply = viewTransfer((await queries.cancelTransfer.first(tx, { id })) ?? refuse('transfer_ended'))
  const before = { status: row.status, cancelling: row.cancelling }
  return { reply, audited: { before, after: { status: reply.status, cancelling: true } } }
}
