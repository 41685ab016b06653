import type { ErrorCode } from '@penstock/wire'
import {
  type Account,
  type Added,
  accountOf,
  type Connection,
  configurationOf,
  isGone,
  isLive,
  type Model,
  type Place,
  type PreviousStatus,
  type Rule,
  type Status,
  type Values,
} from './model.ts'
import { connectorById, fits, isReady, merged, sideFields } from './settings.ts'
import { page, pick, shows } from './views.ts'

/** Connections in the model (`docs/api-decisions.md`, section 2 and "Connection status"). */

type Trigger = 'activate' | 'enable' | 'disable' | 'delete' | 'restore' | 'breakdown' | 'outage' | 'recovery'

/** The status that a trigger leads to, or why it is refused. */
function lead(account: Account, connection: Connection, trigger: Trigger): { to: Status } | { refused: ErrorCode } {
  const { status, previous } = connection
  const ready = (to: Status): { to: Status } | { refused: ErrorCode } =>
    isReady(account, connection) ? { to } : { refused: 'connection_not_ready' }
  if (trigger === 'breakdown') return { to: status === 'active' ? 'broken' : status }
  if (trigger === 'outage') return { to: status === 'active' ? 'offline' : status }
  if (trigger === 'recovery') return { to: status === 'offline' ? 'active' : status }
  if (trigger === 'restore') {
    if (status !== 'deleted') return { refused: 'connection_not_deleted' }
    const sources = [account.added.get(connection.src), account.added.get(connection.dest)]
    if (!sources.every(Boolean)) return { refused: 'connector_not_added' }
    const [source, destination] = sources
    const there = configurationOf(source, connection.srcOther) && configurationOf(destination, connection.destOther)
    return there ? { to: 'disabled' } : { refused: 'configuration_deleted' }
  }
  if (status === 'deleted') return { refused: 'connection_deleted' }
  if (trigger === 'delete') return { to: 'deleted' }
  if (trigger === 'disable') return { to: 'disabled' }
  if (trigger === 'activate') return status === 'active' ? { to: status } : ready('active')
  if (status !== 'disabled') return { to: status }
  return previous === 'active' ? ready('active') : { to: previous ?? status }
}

/** Moves a connection by a trigger, or returns why not. */
export function trigger(account: Account, connection: Connection, by: Trigger): ErrorCode | undefined {
  const led = lead(account, connection, by)
  if ('refused' in led) return led.refused
  const { status } = connection
  if (led.to === status) return undefined
  const keeps = led.to === 'disabled' || led.to === 'deleted'
  const left = status === 'disabled' || status === 'deleted' ? connection.previous : (status as PreviousStatus)
  connection.previous = keeps ? left : null
  connection.status = led.to
  connection.deletedDays = led.to === 'deleted' ? 0 : undefined
  connection.version++
  return undefined
}

const moves = (of: (place: Place) => Trigger): Rule => ({
  needs: 'connection',
  version: ({ connection }) => `${connection.id}@${connection.version}`,
  refusals: (place) => {
    const led = lead(place.account, place.connection, of(place))
    return 'refused' in led ? [led.refused] : []
  },
  answer: (place, payload) => {
    trigger(place.account, place.connection, of(place))
    return {
      is: shows.connection(payload),
      shouldBe: viewConnection(place.account, place.connection),
      etagOf: [place.connection.id, place.connection.version],
    }
  },
})

const sides = [
  { key: 'src', role: 'Source' },
  { key: 'dest', role: 'Destination' },
] as const

/** The settings of both sides after a call. Undefined if one is invalid. A given object replaces the previous one. */
function configsAfter(
  place: Pick<Place, 'call'>,
  ids: { src: string; dest: string },
  current: { src: Values; dest: Values },
) {
  const [src, dest] = sides.map(({ key, role }) => {
    const connector = connectorById(ids[key])
    const given = place.call.body?.[`${key}ConnectionConfig`] as Record<string, unknown> | undefined
    return connector && (given ? merged(sideFields(connector, role), {}, given) : current[key])
  })
  return src && dest ? { src, dest } : undefined
}

export const connectionRules = {
  createConnection: {
    needs: 'account',
    refusals: ({ call, account }) => {
      const body = call.body ?? {}
      const ids = { src: String(body.srcConnectorId), dest: String(body.destConnectorId) }
      const codes: ErrorCode[] = []
      const [source, destination] = [connectorById(ids.src), connectorById(ids.dest)]
      if (!source || !destination) return ['not_found']
      for (const { key } of sides) {
        const added = account.added.get(ids[key])
        if (!added) codes.push('connector_not_added')
        if (!configurationOf(added, body[`${key}ConfigurationId`])) codes.push('not_found')
      }
      if (!fits(source, destination)) codes.push('connectors_incompatible')
      if (!configsAfter({ call }, ids, { src: {}, dest: {} })) codes.push('invalid_request')
      return codes
    },
    answer: ({ model, call, account }, payload) => {
      const body = call.body ?? {}
      const ids = { src: String(body.srcConnectorId), dest: String(body.destConnectorId) }
      const configs = configsAfter({ call }, ids, { src: {}, dest: {} }) ?? { src: {}, dest: {} }
      const connection: Connection = {
        id: String(pick(payload, 'id').id),
        name: String(body.name).trim(),
        status: 'In-progress',
        previous: null,
        ...ids,
        srcOther: otherOf(account.added.get(ids.src), body.srcConfigurationId),
        destOther: otherOf(account.added.get(ids.dest), body.destConfigurationId),
        srcConfig: configs.src,
        destConfig: configs.dest,
        version: 1,
        order: ++model.clock,
        deletedDays: undefined,
        withAccount: false,
      }
      account.connections.set(connection.id, connection)
      return { is: shows.connection(payload), shouldBe: viewConnection(account, connection) }
    },
  },
  getConnection: {
    needs: 'connection',
    refusals: () => [],
    answer: ({ account, connection }, payload) => ({
      is: {
        ...shows.connection(payload),
        ...pick(payload, 'srcConnectionConfig', 'destConnectionConfig', 'srcConfigurationId', 'destConfigurationId'),
      },
      shouldBe: {
        ...viewConnection(account, connection),
        srcConfigurationId: connection.srcOther ?? firstOf(account, connection.src, payload, 'srcConfigurationId'),
        destConfigurationId: connection.destOther ?? firstOf(account, connection.dest, payload, 'destConfigurationId'),
        srcConnectionConfig: connection.srcConfig,
        destConnectionConfig: connection.destConfig,
      },
      etagOf: [connection.id, connection.version],
    }),
  },
  updateConnection: {
    needs: 'connection',
    version: ({ connection }) => `${connection.id}@${connection.version}`,
    refusals: ({ call, account, connection }) => {
      const body = call.body ?? {}
      const codes: ErrorCode[] = isLive(connection) ? [] : ['connection_deleted']
      if (body.id !== undefined && body.id !== connection.id) codes.push('invalid_request')
      for (const { key } of sides) {
        const given = body[`${key}ConnectorId`]
        if (given !== undefined && given !== connection[key]) codes.push('connector_immutable')
        const configurationId = body[`${key}ConfigurationId`]
        if (configurationId !== undefined && !configurationOf(account.added.get(connection[key]), configurationId)) {
          codes.push('not_found')
        }
      }
      const configs = configsAfter({ call }, connection, { src: connection.srcConfig, dest: connection.destConfig })
      if (!configs) codes.push('invalid_request')
      else if (
        connection.status === 'active' &&
        !isReady(account, {
          ...connection,
          ...othersAfter(account, connection, body),
          srcConfig: configs.src,
          destConfig: configs.dest,
        })
      ) {
        codes.push('connection_not_ready')
      }
      return codes
    },
    answer: ({ call, account, connection }, payload) => {
      const others = othersAfter(account, connection, call.body ?? {})
      if (others.srcOther !== connection.srcOther || others.destOther !== connection.destOther) connection.version++
      Object.assign(connection, others)
      const before = JSON.stringify([connection.name, sorted(connection.srcConfig), sorted(connection.destConfig)])
      const configs = configsAfter({ call }, connection, { src: connection.srcConfig, dest: connection.destConfig })
      connection.name = call.body?.name === undefined ? connection.name : String(call.body.name).trim()
      connection.srcConfig = configs?.src ?? {}
      connection.destConfig = configs?.dest ?? {}
      const after = JSON.stringify([connection.name, sorted(connection.srcConfig), sorted(connection.destConfig)])
      if (before !== after) connection.version++
      return {
        is: payload,
        shouldBe: {
          id: connection.id,
          name: connection.name,
          srcConnectionConfig: connection.srcConfig,
          destConnectionConfig: connection.destConfig,
        },
        etagOf: [connection.id, connection.version],
      }
    },
  },
  updateConnectionStatus: moves(({ call }) => call.body?.action as Trigger),
  deleteConnection: moves(() => 'delete'),
  restoreConnection: moves(() => 'restore'),
  listConnections: {
    refusals: ({ model, call }) =>
      call.accountId === undefined || accountOf(model, call.org, call.accountId) ? [] : ['not_found'],
    answer: ({ model, call }, payload) => {
      const { q = '', status = '' } = call.query ?? {}
      const wanted = String(status).toLowerCase()
      const found = listedConnections(model, call)
        .filter(({ connection }) => !isGone(connection))
        .filter(({ connection }) => wanted === '' || wanted === 'all' || connection.status.toLowerCase() === wanted)
        .filter(({ account, connection: { name, src, dest } }) =>
          [
            name,
            connectorById(src)?.name,
            connectorById(dest)?.name,
            ...(call.accountId === undefined ? [account.name] : []),
          ].some((shown) => shown?.toLowerCase().includes(String(q).toLowerCase())),
        )
        .map(({ account, connection }) => ({ ...connection, account, connection }))
      const { entries, total } = page(found, call.query)
      return {
        is: (payload as unknown[]).map(shows.connection),
        shouldBe: entries.map(({ account, connection }) => viewConnection(account, connection)),
        total,
      }
    },
  },
} satisfies Record<string, Rule>

/** A configuration as a connection stores it. The first one has no identifier there. */
const otherOf = (added: Added | undefined, id: unknown): string | undefined => {
  const found = configurationOf(added, id)
  return found === added ? undefined : found?.configurationId
}

/** The configurations of both sides after a change. */
const othersAfter = (account: Account, connection: Connection, body: Readonly<Record<string, unknown>>) => {
  const after = (key: 'src' | 'dest') =>
    body[`${key}ConfigurationId`] === undefined
      ? connection[`${key}Other`]
      : otherOf(account.added.get(connection[key]), body[`${key}ConfigurationId`])
  return { srcOther: after('src'), destOther: after('dest') }
}

/** The first configuration of a side, in the form of the reply while the model does not know it. */
const firstOf = (account: Account, connectorId: string, payload: unknown, key: string): unknown =>
  account.added.get(connectorId)?.configurationId || pick(payload, key)[key]

const sorted = (values: Values) => Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))

function listedConnections(model: Model, { org, accountId }: Place['call']) {
  return [...model.accounts.values()]
    .filter((account) => accountOf(model, org, account.id) && (accountId === undefined || account.id === accountId))
    .flatMap((account) => [...account.connections.values()].map((connection) => ({ account, connection })))
}

function viewConnection(account: Account, connection: Connection) {
  const side = (id: string, other: string | undefined) => ({
    configured: configurationOf(account.added.get(id), other)?.configured ?? false,
    connectorId: id,
    connectorName: connectorById(id)?.name,
  })
  return {
    id: connection.id,
    accountId: account.id,
    name: connection.name,
    status: connection.status,
    deleted: connection.status === 'deleted',
    enabled: connection.status !== 'disabled' && connection.status !== 'deleted',
    editable: true,
    totalVolume: 0,
    usedVolume: 0,
    monthlyVolume: 0,
    src: side(connection.src, connection.srcOther),
    dest: side(connection.dest, connection.destOther),
  }
}
