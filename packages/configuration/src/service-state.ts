import { createHash } from 'node:crypto'
import { type Client, type EntryOf, everyPage, type PagedOperationId, PenstockError } from '@penstock/client'
import type {
  AlertRule,
  ConnectionWithSettings,
  ConnectorDefinition,
  SavedValues,
  ScheduleEntry,
  Webhook,
} from '@penstock/wire'
import { persistently, withBound } from './calls.ts'

/** What a service is configured with, as its lists say. */
export type ServiceState = {
  readonly accounts: readonly AccountState[]
  /** Of the organization and of every sub-account. */
  readonly webhooks: readonly Webhook[]
  readonly alertRules: readonly AlertRule[]
}

export type AccountState = {
  readonly id: string
  readonly name: string
  readonly enabled: boolean
  /** By the names of their connectors. */
  readonly connectors: ReadonlyMap<string, SavedValues>
  readonly connections: readonly ConnectionState[]
}
export type ConnectionState = ConnectionWithSettings & {
  readonly source: string
  readonly destination: string
  readonly schedule?: ScheduleEntry | undefined
}

/** With no more sub-accounts than this, each is asked for on its own in place of all. */
const separateAccountsMax = 5
const pageSize = 500
/** How often a list is read again that others change in the meantime. */
const walksMax = 10

/**
 * Reads the configuration of a service, in a few calls however much there is.
 * @param wanted which sub-accounts it is about; those that are left out are in the result without their contents
 */
export async function readState(
  client: Client,
  wanted: (account: { readonly id: string; readonly name: string }) => boolean = () => true,
): Promise<ServiceState> {
  const accounts = await readAll(client, 'listAccounts', undefined)
  const webhooks = await readAll(client, 'listWebhooks', undefined)
  const alertRules = await readAll(client, 'listAlertRules', undefined)
  const chosen = accounts.filter(wanted)
  const scopes =
    chosen.length <= separateAccountsMax && chosen.length < accounts.length ? chosen.map(({ id }) => id) : [undefined]
  const read = await withBound(scopes, async (accountId) => ({
    configurations: await readAll(client, 'listConnectorConfigurations', accountId),
    connections: await readAll(client, 'listConnectionDetails', accountId),
    schedules: await readAll(client, 'listSchedules', accountId),
  }))
  const configurations = Map.groupBy(
    read.flatMap((one) => one.configurations),
    ({ accountId }) => accountId,
  )
  const connections = Map.groupBy(
    read.flatMap((one) => one.connections),
    ({ accountId }) => accountId,
  )
  const schedules = new Map(read.flatMap((one) => one.schedules).map((entry) => [entry.connectionId, entry]))
  return {
    ...{ webhooks, alertRules },
    accounts: accounts.map(({ id, name, enabled }) => {
      const added = configurations.get(id) ?? []
      const slugs = new Map(added.map(({ connectorId, slug }) => [connectorId, slug]))
      return {
        ...{ id, name, enabled },
        connectors: new Map(added.map((one) => [one.slug, one])),
        connections: (connections.get(id) ?? []).map((connection) => ({
          ...connection,
          source: slugs.get(connection.src.connectorId) ?? connection.src.connectorId,
          destination: slugs.get(connection.dest.connectorId) ?? connection.dest.connectorId,
          schedule: schedules.get(connection.id),
        })),
      }
    }),
  }
}

/** The connections of some sub-accounts that are not deleted, by their identifiers. */
export async function readConnections(
  client: Client,
  accountIds: readonly string[],
): Promise<Map<string, ConnectionWithSettings>> {
  const scopes = accountIds.length <= separateAccountsMax ? accountIds : [undefined]
  const lists = await withBound(scopes, (accountId) => readAll(client, 'listConnectionDetails', accountId))
  return new Map(lists.flat().map((connection) => [connection.id, connection]))
}

/** What of an entry no other one has. */
const keyOf = (entry: object): string => {
  const { id, accountId, connectorId, connectionId } = entry as Record<string, string | undefined>
  return id ?? connectionId ?? `${accountId} ${connectorId}`
}

/**
 * Reads a whole list. What is added or removed meanwhile moves the later pages, so that an entry could be missed: a list
 * whose total is not what was read is read again.
 */
export async function readAll<I extends PagedOperationId>(
  client: Client,
  operation: I,
  accountId: string | undefined,
): Promise<EntryOf<I>[]> {
  for (let walk = 1; ; walk++) {
    const entries = new Map<string, EntryOf<I>>()
    const totals = new Set<number>()
    const parameters = { ...(accountId === undefined ? {} : { accountId }), query: { size: pageSize } }
    for await (const page of everyPage(client, operation, ...([parameters] as never))) {
      totals.add((page as unknown as { total: number }).total)
      for (const entry of page.reply as EntryOf<I>[]) entries.set(keyOf(entry as object), entry)
    }
    if (totals.size === 1 && totals.has(entries.size)) return [...entries.values()]
    if (walk === walksMax) throw new Error('The service is being changed all the time: try again when it is quiet.')
  }
}

/** Gives the definitions of connectors, each asked for once; undefined where the service does not have the connector. */
export type Definitions = (slug: string) => Promise<ConnectorDefinition | undefined>

export function createDefinitions(client: Client): Definitions {
  const known = new Map<string, Promise<ConnectorDefinition | undefined>>()
  const ask = async (slug: string) => {
    try {
      return (await persistently(() => client.getConnectorDefinition({ id: connectorIdOf(slug) }))).reply
    } catch (error) {
      if (error instanceof PenstockError && error.code === 'not_found') return undefined
      throw error
    }
  }
  return (slug) => {
    const asked = known.get(slug) ?? ask(slug)
    known.set(slug, asked)
    return asked
  }
}

/** The identifier of a connector, which is the same in every service. */
export const connectorIdOf = (slug: string): string =>
  createHash('sha256').update(`connector:${slug}`).digest('hex').slice(0, 16)
