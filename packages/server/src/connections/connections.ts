import type { Values } from '@penstock/connector'
import { type BodyOf, connectionStatuses, lifecycle, type PreviousStatus, type Trigger } from '@penstock/wire'
import type { AccountContents } from '../accounts/accounts.ts'
import { record, serviceActor } from '../audit/record.ts'
import type { ActingAccount, Answer, Call } from '../call.ts'
import type { Config } from '../config.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Db, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import { findLimit } from '../organizations/limits.ts'
import { isNearQuota, refuse, refuseFieldErrors, requireEditable, requireQuota } from '../refusal.ts'
import { foundBy } from './found-by.ts'
import { connectionList, countedMax, countForQuota, countsOfAll } from './list-queries.ts'
import { requireActivatable } from './mirror-conflicts.ts'
import * as queries from './queries.ts'
import {
  nameOtherData,
  readSettings,
  requireCompatible,
  requireReadable,
  requireSides,
  requireToDirectSecrets,
  sides,
} from './sides.ts'
import { readTagFilter } from './tags.ts'
import { etagOf, viewConnection, viewConnectionDetails, viewEvent, viewUpdatedConnection } from './view.ts'

/** Connections (specification, sections 2.8, 3 and 4.4). */

/** Dependencies of the handlers of connections. */
export type ConnectionDeps = { readonly config: Config; readonly catalogue: Catalogue }

export async function listConnections(
  { db, actor, account, query }: Call<'listConnections'>,
  deps: ConnectionDeps,
): Promise<Answer<'listConnections'>> {
  const { q, status: wanted, tags, owner, sort = '-created', size, offset } = query
  const status = connectionStatuses.find((name) => name.toLowerCase() === wanted?.toLowerCase()) ?? null
  const filter = {
    organizationId: actor.organizationId,
    accountId: account?.id ?? null,
    accountIds: actor.accountIds,
    ...(await foundBy({ db, actor, account }, q, deps.catalogue)),
    status,
    tags: readTagFilter(tags),
    owner: owner ?? null,
    sort,
  }
  const { list, count, isBounded } = connectionList(filter)
  const [rows, counted] = await Promise.all([list.all(db, { ...filter, size, offset }), count?.first(db, filter)])
  const reply = rows.flatMap((row) => (row.id === null ? [] : [viewConnection(row, deps)]))
  const total = counted?.total ?? rows[0]?.total ?? 0
  if (!isBounded || total <= countedMax) return { reply, total }
  // A full page can be followed by another one.
  const seen = offset + reply.length + (reply.length === size ? 1 : 0)
  return { reply, total: Math.max(countedMax, seen), isMore: true }
}

export async function getConnection(
  { db, account, id }: Call<'getConnection'>,
  deps: ConnectionDeps,
): Promise<Answer<'getConnection'>> {
  const row = await findConnection(db, account, id)
  return { reply: viewConnectionDetails(row, deps), etag: etagOf(row) }
}

/** The history of a connection, also of a deleted one while it can be restored. */
export async function listConnectionEvents({
  db,
  account,
  id,
  query: { size, offset },
}: Call<'listConnectionEvents'>): Promise<Answer<'listConnectionEvents'>> {
  await findConnection(db, account, id)
  const [rows, count] = await Promise.all([
    queries.listEvents.all(db, { connectionId: id, size, offset }),
    queries.countEvents.first(db, { connectionId: id }),
  ])
  return { reply: rows.map(viewEvent), total: count?.total ?? 0 }
}

/**
 * Pairs a source with a compatible destination, both added to the sub-account. Refuses with `quota_exceeded` if the sub-account
 * has reached its quota of connections.
 */
export async function createConnection(
  call: Call<'createConnection'>,
  deps: ConnectionDeps,
): Promise<Answer<'createConnection'>> {
  const connectors = findConnectors(deps.catalogue, call.body, 'body')
  for (const { key, role } of sides) {
    const given = (call.body[`${key}ConnectionConfig`] ?? {}) as Values
    requireToDirectSecrets(call.actor, connectors[key], role, {}, given)
  }
  return addConnection(call, deps)
}

/** The same for a rule that creates one with what else it does. */
export async function addConnection(
  { db: tx, account, body }: Pick<Call<'createConnection'>, 'db' | 'account' | 'body'>,
  deps: ConnectionDeps,
): Promise<Answer<'createConnection'>> {
  const { catalogue, config } = deps
  const connectors = findConnectors(catalogue, body, 'body')
  const named = {
    accountId: account.id,
    srcConnectorId: body.srcConnectorId,
    destConnectorId: body.destConnectorId,
    srcConfigurationId: body.srcConfigurationId ?? null,
    destConfigurationId: body.destConfigurationId ?? null,
  }
  let pair: ReturnType<typeof readPair>
  try {
    pair = readPair(connectors, body, 'body')
  } catch (error) {
    // A side that is not added is reported before problems of its settings.
    await findConfigurations(tx, named)
    throw error
  }
  const insert = () =>
    queries.insertConnection.first(tx, {
      ...named,
      ...pair,
      id: newIdentifier(),
      organizationId: account.organizationId,
      name: body.name.trim(),
      env: config.environment.name,
    })
  let row: Awaited<ReturnType<typeof insert>>
  for (;;) {
    row = await requireSides(insert, (key) =>
      refuse('not_found', [{ field: `body.${key}ConfigurationId`, message: notItsConfiguration }]),
    )
    if (row) break
    // Nothing to refuse: the missing configuration has been added meanwhile.
    await findConfigurations(tx, named)
  }
  await requireReadable(tx, catalogue, row)
  const { max, setting } = await findLimit(tx, config, account.organizationId, 'connections')
  if (isNearQuota(row, max)) {
    // The trigger has counted the connection, and holds the count of the account until this transaction ends.
    const count = await countForQuota.first(tx, { accountId: account.id })
    const what = 'connections of the sub-account'
    requireQuota(count ?? row, { field: 'connection', what, max, setting })
  }
  const reply = viewConnection(row, deps)
  const settings = { srcConnectionConfig: row.srcConfig, destConnectionConfig: row.destConfig }
  return { reply, audited: { after: { ...reply, ...settings } } }
}

/** The connectors and settings of a connection. */
type Pair = Pick<
  BodyOf<'createConnection'>,
  'srcConnectorId' | 'destConnectorId' | 'srcConnectionConfig' | 'destConnectionConfig'
>

/**
 * Refuses a pair that cannot form a connection, before the connection is created. @param path where it is in the
 * request
 */
export function readTemplate(catalogue: Catalogue, pair: Pair, path: string): void {
  readPair(findConnectors(catalogue, pair, path), pair, path)
}

function findConnectors(catalogue: Catalogue, pair: Pair, path: string) {
  const find = (field: 'srcConnectorId' | 'destConnectorId') =>
    catalogue.find(pair[field]) ??
    refuse('not_found', [{ field: `${path}.${field}`, message: `no connector of the catalogue is ${pair[field]}` }])
  return { src: find('srcConnectorId'), dest: find('destConnectorId') }
}

/** The settings of both sides in the form in which they are stored. */
function readPair(connectors: ReturnType<typeof findConnectors>, pair: Pair, path: string) {
  requireCompatible(connectors.src, connectors.dest)
  const read = sides.map(({ key, role }) =>
    readSettings(connectors[key], role, pair[`${key}ConnectionConfig`] ?? {}, `${path}.${key}ConnectionConfig`),
  )
  refuseFieldErrors(read.flatMap(({ fieldErrors }) => fieldErrors))
  const [srcConfig = '{}', destConfig = '{}'] = read.map(({ values }) => JSON.stringify(values))
  return { srcConfig, destConfig }
}

/** The configurations of both sides. Refuses if a side is not added, or a named configuration does not belong to it. */
async function findConfigurations(tx: Transaction, named: Parameters<typeof queries.findSides.all>[1]) {
  const rows = await queries.findSides.all(tx, named)
  const [src, dest] = sides.map(({ key }) => rows.find(({ side }) => side === key))
  refuseFieldErrors(
    sides
      .filter(({ key }) => !rows.some(({ side }) => side === key))
      .map(({ key }) => ({ field: `body.${key}ConnectorId`, message: 'is not added to this sub-account' })),
    'connector_not_added',
  )
  refuseFieldErrors(
    sides
      .filter(({ key }) => rows.some(({ side, configurationId }) => side === key && configurationId === null))
      .map(({ key }) => ({ field: `body.${key}ConfigurationId`, message: notItsConfiguration })),
    'not_found',
  )
  return {
    srcConfigurationId: src?.configurationId ?? '',
    destConfigurationId: dest?.configurationId ?? '',
    srcFirst: src?.first ?? true,
    destFirst: dest?.first ?? true,
  }
}

const notItsConfiguration = 'is not a configuration of that connector in this sub-account'

/** Changes the name, the settings and the configurations; the connectors never change (invariant 2). */
export async function updateConnection(
  call: Call<'updateConnection'>,
  deps: ConnectionDeps,
): Promise<Answer<'updateConnection'>> {
  const { db: tx, account, id, body } = call
  const { catalogue } = deps
  const row = await lockForChange(call, deps)
  if (row.status === 'deleted') refuse('connection_deleted')
  if (body.id !== undefined && body.id !== id)
    refuse('invalid_request', [{ field: 'body.id', message: 'is not the id in the path' }])
  refuseFieldErrors(
    (['srcConnectorId', 'destConnectorId'] as const)
      .filter((field) => body[field] !== undefined && body[field] !== row[field])
      .map((field) => ({
        field: `body.${field}`,
        message: 'is another connector than the one that the connection has',
      })),
    'connector_immutable',
  )
  const [src, dest] = sides.map(({ key, role }) => {
    const given = body[`${key}ConnectionConfig`]
    const current = row[`${key}Config`]
    if (given === undefined) return { values: current, fieldErrors: [] }
    return readSettings(catalogue.known(row[`${key}ConnectorId`]), role, given, `body.${key}ConnectionConfig`, current)
  })
  refuseFieldErrors([...(src?.fieldErrors ?? []), ...(dest?.fieldErrors ?? [])])
  const change = { srcConfig: src?.values ?? {}, destConfig: dest?.values ?? {} }
  const hasState = (await queries.hasState.first(tx, { id }))?.found ?? false
  const { srcConfigurationId, destConfigurationId } = row
  const wanted = {
    srcConfigurationId: body.srcConfigurationId ?? srcConfigurationId,
    destConfigurationId: body.destConfigurationId ?? destConfigurationId,
  }
  const switched = sides.filter(({ key }) => wanted[`${key}ConfigurationId`] !== row[`${key}ConfigurationId`])
  for (const { key, role } of sides) {
    const config = `${key}Config` as const
    // Settings of the connection can say where the secrets of another configuration go, too.
    const before = switched.some((side) => side.key === key) ? {} : row[config]
    requireToDirectSecrets(call.actor, catalogue.known(row[`${key}ConnectorId`]), role, before, change[config])
  }
  if (switched.length > 0) await switchConfigurations(tx, account, { ...row, ...wanted })
  if (switched.some(({ key }) => key === 'src')) await requireReadable(tx, catalogue, { ...row, ...wanted })
  // A connection that carries data stays complete.
  if (row.status === 'active') await requireActivatable(tx, catalogue, { ...row, ...wanted, ...change })
  await queries.updateConnection.run(tx, {
    id,
    name: body.name?.trim() ?? row.name,
    srcConfig: JSON.stringify(change.srcConfig),
    destConfig: JSON.stringify(change.destConfig),
  })
  const states = hasState && (switched.length > 0 || nameOtherData(catalogue, row, change)) ? 1 : 0
  const changed = await findConnection(tx, account, id)
  const reply = viewUpdatedConnection(changed)
  const before = viewUpdatedConnection(row)
  const ofBefore = { ...before, srcConfigurationId, destConfigurationId }
  const audited = switched.length === 0 ? { before } : { before: ofBefore, after: { ...reply, ...wanted } }
  return { reply, etag: etagOf(changed), audited, states }
}

/**
 * Switches a connection to other configurations of its connectors. Its cursor and state are dropped, so the next transfer reads
 * from the beginning. Refuses with `configuration_busy` while a transfer is active, because the transfer would continue with
 * other configurations.
 */
async function switchConfigurations(
  tx: Transaction,
  account: ActingAccount,
  row: queries.ConnectionRow,
): Promise<void> {
  const { id } = row
  const configurations = await findConfigurations(tx, { ...row, accountId: account.id })
  const transfers = await queries.hasActiveTransfer.first(tx, { id })
  if (transfers?.active) refuse('configuration_busy')
  await requireSides(
    () => queries.changeConfigurations.run(tx, { id, ...configurations }),
    (key) => refuse('not_found', [{ field: `body.${key}ConfigurationId`, message: notItsConfiguration }]),
  )
}

/** The operations that move a connection along its lifecycle. See `triggerConnection`. */
export const updateConnectionStatus = (call: Call<'updateConnectionStatus'>, deps: ConnectionDeps) =>
  triggerConnection(call, deps, call.body.action)

export const deleteConnection = (call: Call<'deleteConnection'>, deps: ConnectionDeps) =>
  triggerConnection(call, deps, 'delete')

export const restoreConnection = (call: Call<'restoreConnection'>, deps: ConnectionDeps) =>
  triggerConnection(call, deps, 'restore')

/** A write of one connection, as every operation that changes one is called. */
type Change = Pick<Call<'updateConnectionStatus'>, 'db' | 'account' | 'id' | 'precondition'>

/** Moves a connection along its lifecycle: activate, enable, disable, delete, restore. A repeated trigger changes nothing. */
export async function triggerConnection(
  change: Change,
  deps: ConnectionDeps,
  trigger: Trigger,
): Promise<Answer<'updateConnectionStatus'>> {
  const { db: tx, account, id } = change
  const row = await lockForChange(change, deps)
  const transition = lifecycle[row.status][trigger]
  if ('refused' in transition) refuse(transition.refused)
  const to = transition.to === 'previous' ? previousStatusOf(row) : transition.to
  if (to !== row.status) {
    const mustBeReady = transition.to === 'previous' ? to === 'active' : transition.ready
    if (mustBeReady) await requireActivatable(tx, deps.catalogue, row)
    const previousStatus = to === 'disabled' || to === 'deleted' ? previousStatusOf(row) : null
    const moved = await requireSides(
      () => queries.moveConnection.run(tx, { id, from: row.status, to, previousStatus }),
      (key) =>
        refuse('configuration_deleted', [{ field: `${key}Connector`, message: 'no longer has this configuration' }]),
    )
    if (moved === 0) throw new Error(`Connection ${id} was locked, but changed anyway`)
  }
  const now = await findConnection(tx, account, id)
  const audited = { before: viewConnection(row, deps) }
  return { reply: viewConnection(now, deps), etag: etagOf(now), audited }
}

/** Deletes and restores connections with their account. */
export const connectionsOfAccounts: AccountContents = {
  delete: async (tx, accountId) => void (await queries.deleteConnectionsOfAccount.run(tx, { accountId })),
  restore: async (tx, accountId) => void (await queries.restoreConnectionsOfAccount.run(tx, { accountId })),
}

/**
 * Moves a connection by what its transfers and probes meet: breakdown, outage, recovery. If another
 * change came first and the trigger no longer applies, nothing changes.
 * @returns whether the connection moved
 */
export async function meet(
  tx: Transaction,
  id: string,
  trigger: 'breakdown' | 'outage' | 'recovery',
): Promise<boolean> {
  for (const from of connectionStatuses) {
    const transition = lifecycle[from][trigger]
    if (!('to' in transition) || transition.to === 'previous' || transition.to === from) continue
    const moved = await queries.moveConnection.first(tx, { id, from, to: transition.to, previousStatus: null })
    if (!moved) continue
    record(tx, {
      ...moved,
      actor: serviceActor,
      action: 'connectionMoved',
      targetId: id,
      before: { status: from },
      after: { status: transition.to },
      details: { trigger },
    })
    return true
  }
  return false
}

/** The status that `enable` leads to: the present status, or the status before the connection was disabled or deleted. */
function previousStatusOf(row: queries.ConnectionRow): PreviousStatus {
  if (row.status !== 'disabled' && row.status !== 'deleted') return row.status
  if (!row.previousStatus) throw new Error(`Connection ${row.id} is ${row.status} without a previous status`)
  return row.previousStatus
}

async function findConnection(db: Db, account: ActingAccount, id: string): Promise<queries.ConnectionRow> {
  return (await queries.findConnection.first(db, { accountId: account.id, id })) ?? refuse('not_found')
}

async function lockForChange(
  { db: tx, account, id, precondition }: Change,
  deps: ConnectionDeps,
): Promise<queries.ConnectionRow> {
  if (!(await queries.lockConnection.first(tx, { accountId: account.id, id }))) refuse('not_found')
  const row = await findConnection(tx, account, id)
  requireEditable(row, deps)
  precondition.check(etagOf(row))
  return row
}

/** The number of connections in each status, over all organizations, for the metrics. */
export const countConnections = (db: Db) => countsOfAll.first(db, {})
