import type { Connector, FieldDefinition, Fields } from '@penstock/connector'
import type { OperationId } from '@penstock/wire'
import type { Account, Call, Model } from './model.ts'
import { accountOf, configurationOf } from './model.ts'
import type { Random } from './random.ts'
import { connectorById, mask, pool, type Role, sideFields } from './settings.ts'

/** Random calls: most of them sensible, given what there is, and some that are not. */

const names = ['Alpha', 'alpha two', 'Beta 100%', 'Gamma_1', ' Delta ', 'Épsilon'] as const
const filters = ['a', 'ALPHA', '100%', '_', 'snow', 'mparticle', 'nowhere'] as const
const statuses = ['', 'all', 'active', 'DISABLED', 'deleted', 'in-progress', 'broken', 'offline'] as const
const unknownId = 'ffffffffffffffff'
const accountsMax = 3
const connectionsMax = 10
const keys = ['key-1', 'key-2', 'key-3', 'key-4'] as const

/** Resources of concurrent calls. */
export type Focus = { readonly org: number; readonly accountId: string; readonly connectionId?: string | undefined }

type Maker = (choose: Choose) => Omit<Call, 'org' | 'operation'>

/** Choices for a call. */
type Choose = {
  readonly random: Random
  readonly model: Model
  readonly org: number
  /** The account that the call acts in: now and then one that is gone, unknown or another organization's. */
  readonly accountId: string
  readonly account: Account | undefined
  connection(): string
  connector(): Connector
  /** A configuration of a connector: mostly one that is there. */
  configuration(connectorId: string): string
}

export function chooseCall(random: Random, model: Model, focus?: Focus): Call {
  const org = focus?.org ?? random.int(2)
  const all = [...model.accounts.values()]
  const live = all.filter(({ id }) => accountOf(model, org, id))
  const accountId = focus?.accountId ?? random.any(random.percent(90) ? live : all)?.id ?? unknownId
  const account = model.accounts.get(accountId)
  const choose: Choose = {
    random,
    model,
    org,
    accountId,
    account,
    connection: () => {
      if (focus?.connectionId !== undefined && random.percent(80)) return focus.connectionId
      const ids = [...((random.percent(95) ? account : random.any(all))?.connections.keys() ?? [])]
      return random.any(ids) ?? unknownId
    },
    connector: () =>
      random.any(pool.filter(({ id }) => account?.added.has(id) || random.percent(4))) ?? (pool[0] as Connector),
    configuration: (connectorId) => {
      const added = account?.added.get(connectorId)
      if (!added || random.percent(5)) return unknownId
      return random.any([added.configurationId, ...added.others.keys()]) || unknownId
    },
  }
  const operation = chooseOperation(random, focus ? writes : everything, live.length, account)
  const call = { org, operation, ...makers[operation]?.(choose) }
  return withHeaders(random, model, withMalformedBody(random, call))
}

/** Operations, as often as their weight says. */
const writes: Partial<Record<OperationId, number>> = {
  editAccount: 4,
  deleteAccount: 1,
  addConnectors: 8,
  configureConnector: 8,
  createConnectorConfiguration: 4,
  deleteConnectorConfiguration: 3,
  removeConnector: 4,
  createConnection: 12,
  updateConnection: 6,
  updateConnectionStatus: 14,
  deleteConnection: 8,
  restoreConnection: 8,
}
const everything: Partial<Record<OperationId, number>> = {
  ...writes,
  addAccount: 4,
  getAccount: 3,
  listAccounts: 4,
  listAddedConnectors: 5,
  listSupportedConnectors: 2,
  getConnectorConfiguration: 5,
  getConnection: 6,
  listConnections: 10,
}

const ofConnectors: readonly OperationId[] = [
  'configureConnector',
  'createConnectorConfiguration',
  'deleteConnectorConfiguration',
  'removeConnector',
  'getConnectorConfiguration',
  'createConnection',
]
const ofConnections: readonly OperationId[] = [
  'updateConnection',
  'updateConnectionStatus',
  'deleteConnection',
  'restoreConnection',
  'getConnection',
]

function chooseOperation(
  random: Random,
  weights: typeof everything,
  accounts: number,
  account: Account | undefined,
): OperationId {
  const connections = account?.connections.size ?? 0
  const senseless = (id: OperationId) =>
    (id === 'addAccount' && accounts >= accountsMax) ||
    (id === 'deleteAccount' && accounts <= 1) ||
    (id === 'createConnection' && connections >= connectionsMax) ||
    (ofConnections.includes(id) && connections === 0 && random.percent(95)) ||
    (ofConnectors.includes(id) && account?.added.size === 0 && random.percent(80))
  const entries = (Object.entries(weights) as [OperationId, number][]).filter(([id]) => !senseless(id))
  if (accounts === 0 && 'addAccount' in weights) return 'addAccount'
  let at = random.int(entries.reduce((sum, [, weight]) => sum + weight, 0))
  for (const [id, weight] of entries) {
    at -= weight
    if (at < 0) return id
  }
  return 'listAccounts'
}

const inPath: Maker = ({ accountId }) => ({ id: accountId })
const pageQuery = ({ random }: Choose) => ({
  ...(random.percent(50) ? { q: random.pick(filters) } : {}),
  ...(random.percent(60) ? { size: 1 + random.int(6), offset: random.int(8) } : {}),
})

const makers: Partial<Record<OperationId, Maker>> = {
  addAccount: ({ random }) => ({
    body: { name: random.pick(names), ...(random.percent(30) ? { enabled: random.percent(50) } : {}) },
  }),
  getAccount: inPath,
  deleteAccount: inPath,
  editAccount: ({ random, accountId }) => ({
    id: accountId,
    body: {
      name: random.pick(names),
      ...(random.percent(50) ? { enabled: random.percent(50) } : {}),
    },
  }),
  listAccounts: (choose) => ({ query: pageQuery(choose) }),
  addConnectors: ({ random, accountId }) => ({
    accountId,
    body: {
      connectorIds: [
        random.pick(pool as [Connector, ...Connector[]]).id,
        ...random.some(pool, 40).map(({ id }) => id),
        ...(random.percent(5) ? [unknownId] : []),
      ],
    },
  }),
  listAddedConnectors: (choose) => ({
    accountId: choose.accountId,
    query: { ...pageQuery(choose), ...(choose.random.percent(30) ? { configured: choose.random.percent(50) } : {}) },
  }),
  listSupportedConnectors: (choose) => ({
    accountId: choose.accountId,
    query: {
      [choose.random.pick(['srcConnectorId', 'destConnectorId'])]: choose.connector().id,
      ...(choose.random.percent(50) ? { added: choose.random.percent(70) } : {}),
    },
  }),
  getConnectorConfiguration: (choose) => {
    const { id } = choose.connector()
    const query = choose.random.percent(40) ? { configurationId: choose.configuration(id) } : {}
    return { accountId: choose.accountId, id, query }
  },
  createConnectorConfiguration: (choose) => {
    const { random, accountId } = choose
    const connector = choose.connector()
    return {
      accountId,
      id: connector.id,
      body: {
        name: random.pick(names),
        ...(random.percent(70) ? { secretConfig: chooseValues(random, connector.secrets) } : {}),
        ...(random.percent(10) ? { secretName: random.pick(names) } : {}),
      },
    }
  },
  deleteConnectorConfiguration: (choose) => {
    const { id } = choose.connector()
    return { accountId: choose.accountId, id, query: { configurationId: choose.configuration(id) } }
  },
  removeConnector: (choose) => ({ accountId: choose.accountId, id: choose.connector().id }),
  configureConnector: (choose) => {
    const { random, account, accountId } = choose
    const connector = choose.connector()
    const added = account?.added.get(connector.id)
    const configurationId = random.percent(40) ? choose.configuration(connector.id) : undefined
    const { values = {} } = configurationOf(added, configurationId) ?? {}
    const known = random.percent(25) ? random.any(Object.keys(values)) : undefined
    return {
      accountId,
      id: connector.id,
      body: {
        secretConfig: known ? { [known]: random.pick([null, '', mask]) } : chooseValues(random, connector.secrets),
        ...(random.percent(20) ? { name: random.pick(names) } : {}),
        ...(random.percent(10) ? { secretName: random.pick(names) } : {}),
        ...(configurationId ? { configurationId } : {}),
      },
    }
  },
  createConnection: (choose) => {
    const { random, account, accountId } = choose
    const sides = random.percent(85) ? random.any(fittingPairs(account)) : undefined
    const [source, destination] = sides ?? [choose.connector(), choose.connector()]
    return {
      accountId,
      body: {
        name: random.pick(names),
        srcConnectorId: random.percent(98) ? source.id : unknownId,
        destConnectorId: destination.id,
        ...(random.percent(40) ? { srcConfigurationId: choose.configuration(source.id) } : {}),
        ...(random.percent(40) ? { destConfigurationId: choose.configuration(destination.id) } : {}),
        ...(random.percent(80) ? { srcConnectionConfig: chooseValues(random, sideFields(source, 'Source')) } : {}),
        ...(random.percent(80)
          ? { destConnectionConfig: chooseValues(random, sideFields(destination, 'Destination')) }
          : {}),
      },
    }
  },
  getConnection: (choose) => ({ accountId: choose.accountId, id: choose.connection() }),
  deleteConnection: (choose) => ({ accountId: choose.accountId, id: choose.connection() }),
  restoreConnection: (choose) => ({ accountId: choose.accountId, id: choose.connection() }),
  updateConnectionStatus: (choose) => ({
    accountId: choose.accountId,
    id: choose.connection(),
    body: { action: choose.random.pick(['activate', 'activate', 'enable', 'disable']) },
  }),
  updateConnection: (choose) => {
    const { random, account, accountId } = choose
    const id = choose.connection()
    const { src = unknownId, dest = unknownId } = account?.connections.get(id) ?? {}
    const config = (side: string, role: Role) => {
      const connector = connectorById(side)
      return connector && random.percent(50) ? chooseValues(random, sideFields(connector, role)) : undefined
    }
    const [srcConnectionConfig, destConnectionConfig] = [config(src, 'Source'), config(dest, 'Destination')]
    return {
      accountId,
      id,
      body: {
        ...(random.percent(50) ? { name: random.pick(names) } : {}),
        ...(random.percent(10) ? { id: random.percent(70) ? id : unknownId } : {}),
        ...(random.percent(10) ? { srcConnectorId: random.percent(60) ? src : choose.connector().id } : {}),
        ...(srcConnectionConfig ? { srcConnectionConfig } : {}),
        ...(destConnectionConfig ? { destConnectionConfig } : {}),
        ...(random.percent(20) ? { srcConfigurationId: choose.configuration(src) } : {}),
        ...(random.percent(20) ? { destConfigurationId: choose.configuration(dest) } : {}),
      },
    }
  },
  listConnections: (choose) => ({
    ...(choose.random.percent(60) ? { accountId: choose.accountId } : {}),
    query: { ...pageQuery(choose), ...(choose.random.percent(50) ? { status: choose.random.pick(statuses) } : {}) },
  }),
}

/** Pairs of added connectors that can play their roles. The service decides whether they are compatible. */
function fittingPairs(account: Account | undefined): [Connector, Connector][] {
  const added = pool.filter(({ id }) => account?.added.has(id))
  return added
    .filter(({ source }) => source)
    .flatMap((source) =>
      added.filter(({ destination }) => destination).map((other): [Connector, Connector] => [source, other]),
    )
}

/** Mostly complete and valid, sometimes with gaps, with values that are cleared, masked or invalid, or with an unknown key. */
function chooseValues(random: Random, fields: Fields): Record<string, unknown> {
  const whole = random.percent(70)
  const values = Object.entries(fields)
    .filter(([, field]) => (field.readonly ? random.percent(2) : whole || random.percent(50)))
    .map(([key, field]): [string, unknown] => [key, whole ? chooseValue(random, field) : chooseOddValue(random, field)])
  return Object.fromEntries(random.percent(3) ? [...values, ['unknownField', 'x']] : values)
}

function chooseValue(random: Random, { type, options = [], min = 1 }: FieldDefinition): unknown {
  if (type === 'Number') return min + random.int(3)
  if (type === 'Boolean') return random.percent(50)
  return options.length > 0 ? random.any(options) : random.pick(['one', 'two', 'thrée'])
}

const chooseOddValue = (random: Random, field: FieldDefinition): unknown => {
  if (random.percent(60)) return chooseValue(random, field)
  return random.pick([null, null, '', mask, field.type === 'Password' ? mask : null, true])
}

function withMalformedBody(random: Random, call: Call): Call {
  if (!call.body || !random.percent(2)) return call
  return { ...call, body: { ...call.body, colour: 'blue' }, malformed: true }
}

const versioned: readonly OperationId[] = [
  'editAccount',
  'deleteAccount',
  'configureConnector',
  'deleteConnectorConfiguration',
  'removeConnector',
  'updateConnection',
  'updateConnectionStatus',
  'deleteConnection',
  'restoreConnection',
]
const repeatable: readonly OperationId[] = [
  'addAccount',
  'addConnectors',
  'createConnectorConfiguration',
  'createConnection',
  'restoreConnection',
]

function withHeaders(random: Random, model: Model, call: Call): Call {
  if (repeatable.includes(call.operation) && random.percent(25)) {
    const key = random.pick(keys)
    const known = model.keys.get(`${call.org} ${key}`)
    // Half of the calls whose key is already used repeat the request.
    return known && random.percent(50) ? again(call, known.request, key) : { ...call, key }
  }
  if (!versioned.includes(call.operation) || !random.percent(20)) return call
  const added = model.accounts.get(call.accountId ?? '')?.added.get(call.id ?? '')
  const named = call.body?.configurationId ?? call.query?.configurationId
  const configurationId = configurationOf(added, named)?.configurationId
  const isOfConnector = /onnectorConfiguration$|^configureConnector$|^removeConnector$/.test(call.operation)
  const resource = isOfConnector ? configurationId : call.id
  const seen = [...model.etags].filter(([version]) => version.startsWith(`${resource}@`)).slice(-2)
  const [version, etag] = random.any(seen) ?? []
  return version && etag ? { ...call, ifMatch: { etag, version } } : call
}

function again(call: Call, request: string, key: string): Call {
  const [operation, id, accountId, body] = JSON.parse(request)
  return {
    org: call.org,
    operation,
    ...(id ? { id } : {}),
    ...(accountId ? { accountId } : {}),
    ...(body ? { body } : {}),
    key,
  }
}
