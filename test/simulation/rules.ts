import type { Connector } from '@penstock/connector'
import { listedConnectors } from '@penstock/connectors'
import type { ErrorCode, OperationId } from '@penstock/wire'
import { connectionRules } from './connection-rules.ts'
import {
  type Account,
  type Added,
  accountOf,
  type Call,
  type Configuration,
  configurationOf,
  isLive,
  type Model,
  type Rule,
  type Values,
} from './model.ts'
import { connectorById, fits, isComplete, isConfiguredFromStart, mask, merged } from './settings.ts'
import { page, pick, shows } from './views.ts'

/** Accounts and connectors in the model (`docs/api-decisions.md`, section 2). */

const viewAccount = (account: Account) => ({
  id: account.id,
  name: account.name,
  enabled: account.enabled,
  connections: String([...account.connections.values()].filter(isLive).length),
  volume: 0,
})

const accountInPath = (model: Model, org: number, id: string | undefined): Account => {
  const account = accountOf(model, org, id)
  if (!account) throw new Error('looked at an account that is not there')
  return account
}
const accountOrRefusal = (model: Model, org: number, id: string | undefined): ErrorCode[] =>
  accountOf(model, org, id) ? [] : ['not_found']

const accountRules = {
  addAccount: {
    refusals: () => [],
    answer: ({ model, call }, payload) => {
      const account: Account = {
        id: String(pick(payload, 'id').id),
        org: call.org,
        name: String(call.body?.name).trim(),
        enabled: call.body?.enabled !== false,
        version: 1,
        order: ++model.clock,
        deletedDays: undefined,
        added: new Map(),
        connections: new Map(),
      }
      model.accounts.set(account.id, account)
      return { is: shows.account(payload), shouldBe: viewAccount(account) }
    },
  },
  getAccount: {
    refusals: ({ model, call }) => accountOrRefusal(model, call.org, call.id),
    answer: ({ model, call }, payload) => {
      const account = accountInPath(model, call.org, call.id)
      return { is: shows.account(payload), shouldBe: viewAccount(account), etagOf: [account.id, account.version] }
    },
  },
  editAccount: {
    refusals: ({ model, call }) => accountOrRefusal(model, call.org, call.id),
    version: ({ model, call }) => `${call.id}@${accountOf(model, call.org, call.id)?.version}`,
    answer: ({ model, call }, payload) => {
      const account = accountInPath(model, call.org, call.id)
      const name = call.body?.name === undefined ? account.name : String(call.body.name).trim()
      const enabled = (call.body?.enabled as boolean | undefined) ?? account.enabled
      if (name !== account.name || enabled !== account.enabled) account.version++
      Object.assign(account, { name, enabled })
      return { is: shows.account(payload), shouldBe: viewAccount(account), etagOf: [account.id, account.version] }
    },
  },
  deleteAccount: {
    refusals: ({ model, call }) => accountOrRefusal(model, call.org, call.id),
    version: ({ model, call }) => `${call.id}@${accountOf(model, call.org, call.id)?.version}`,
    answer: ({ model, call }, payload) => {
      const account = accountInPath(model, call.org, call.id)
      account.deletedDays = 0
      account.version++
      for (const connection of account.connections.values()) {
        connection.version++
        if (connection.status === 'deleted') continue
        if (connection.status !== 'disabled') connection.previous = connection.status
        Object.assign(connection, { status: 'deleted', deletedDays: 0, withAccount: true })
      }
      return { is: shows.account(payload), shouldBe: viewAccount(account) }
    },
  },
  listAccounts: {
    refusals: () => [],
    answer: ({ model, call }, payload) => {
      const q = String(call.query?.q ?? '').toLowerCase()
      const all = [...model.accounts.values()].filter(({ id }) => accountOf(model, call.org, id))
      const { entries, total } = page(
        all.filter(({ name }) => name.toLowerCase().includes(q)),
        call.query,
      )
      return { is: (payload as unknown[]).map(shows.account), shouldBe: entries.map(viewAccount), total }
    },
  },
} satisfies Record<string, Rule>

function viewAdded(account: Account, connectorId: string) {
  const live = [...account.connections.values()].filter(isLive)
  return {
    connectorId,
    name: connectorById(connectorId)?.name,
    configured: account.added.get(connectorId)?.configured ?? false,
    srcConnections: live.filter(({ src }) => src === connectorId).length,
    destConnections: live.filter(({ dest }) => dest === connectorId).length,
  }
}

const addedOrRefusal = (account: Account, id: string | undefined): ErrorCode[] => {
  if (!connectorById(id ?? '')) return ['not_found']
  return account.added.has(id ?? '') ? [] : ['connector_not_added']
}

/** The values of a configuration as they are shown. A secret only shows that it is set. */
function viewValues(connectorId: string, { values }: Configuration): Record<string, string> {
  const fields = Object.entries(connectorById(connectorId)?.secrets ?? {})
  const shown = ([key, field]: (typeof fields)[number]) =>
    field.type === 'Password' ? (key in values ? mask : '') : String(values[key] ?? field.default ?? '')
  return Object.fromEntries(fields.map((entry) => [entry[0], shown(entry)]))
}

/** Whether the active connections that use a configuration have all they need of it in these values. */
function areActiveComplete(account: Account, { id, secrets }: Connector, used: Configuration, values: Values): boolean {
  const added = account.added.get(id)
  return [...account.connections.values()]
    .filter(({ status }) => status === 'active')
    .every(
      ({ src, dest, srcOther, destOther }) =>
        (src !== id || configurationOf(added, srcOther) !== used || isComplete(secrets, values, 'Source')) &&
        (dest !== id || configurationOf(added, destOther) !== used || isComplete(secrets, values, 'Destination')),
    )
}

/** Whether another configuration of the connector has the name. */
const isTaken = (added: Added, name: unknown, but?: Configuration): boolean =>
  name !== undefined && [added, ...added.others.values()].some((one) => one !== but && one.name === String(name).trim())

const viewSaved = (configuration: Configuration, payload: unknown) => ({
  is: {
    ...pick(payload, 'configurationId', 'name', 'secretName', 'configured'),
    saved: (payload as { lastUpdated: number }).lastUpdated > 0,
  },
  shouldBe: pick(configuration, 'configurationId', 'name', 'secretName', 'configured', 'saved'),
})

const idsIn = ({ body }: Call): string[] => (body?.connectorIds ?? []) as string[]

const connectorRules = {
  addConnectors: {
    needs: 'account',
    refusals: ({ call }) => (idsIn(call).every(connectorById) ? [] : ['not_found']),
    answer: ({ model, call, account }, payload) => {
      const ids = [...new Set(idsIn(call))]
      const order = ++model.clock
      for (const connectorId of ids) {
        const connector = connectorById(connectorId)
        if (!connector || account.added.has(connectorId)) continue
        account.added.set(connectorId, {
          connectorId,
          configurationId: '',
          configured: isConfiguredFromStart(connector),
          name: 'Default',
          secretName: `${connector.slug}/${account.id}`,
          values: {},
          saved: false,
          version: 1,
          order,
          others: new Map(),
        })
      }
      return { is: (payload as unknown[]).map(shows.added), shouldBe: ids.map((id) => viewAdded(account, id)) }
    },
  },
  listAddedConnectors: {
    needs: 'account',
    refusals: () => [],
    answer: ({ call, account }, payload) => {
      const { q = '', configured } = call.query ?? {}
      const found = [...account.added.values()]
        .filter((added) => configured === undefined || added.configured === configured)
        .filter(({ connectorId }) => connectorById(connectorId)?.name.toLowerCase().includes(String(q).toLowerCase()))
        .map(({ connectorId, order }) => ({ id: connectorId, order }))
      const { entries, total } = page(found, call.query)
      return {
        is: (payload as unknown[]).map(shows.added),
        shouldBe: entries.map(({ id }) => viewAdded(account, id)),
        total,
      }
    },
  },
  listSupportedConnectors: {
    needs: 'account',
    refusals: ({ call }) =>
      connectorById(String(call.query?.srcConnectorId ?? call.query?.destConnectorId)) ? [] : ['not_found'],
    answer: ({ call, account }, payload) => {
      const { srcConnectorId, destConnectorId, added } = call.query ?? {}
      const given = connectorById(String(srcConnectorId ?? destConnectorId))
      const found = listedConnectors.filter(
        (other) =>
          given !== undefined &&
          (srcConnectorId === undefined ? fits(other, given) : fits(given, other)) &&
          (added === undefined || account.added.has(other.id) === added),
      )
      return { is: (payload as unknown[]).map(shows.added), shouldBe: found.map(({ id }) => viewAdded(account, id)) }
    },
  },
  getConnectorConfiguration: {
    needs: 'account',
    refusals: ({ call, account, added }) => {
      const codes = addedOrRefusal(account, call.id)
      if (codes.length > 0) return codes
      return configurationOf(added, call.query?.configurationId) ? [] : ['not_found']
    },
    answer: ({ call, added: first }, payload) => {
      const added = configurationOf(first, call.query?.configurationId) ?? first
      const { secretConfig, configured, secretName, lastUpdated } = payload as {
        secretConfig: { configurationId: string; name: string; configuration: { name: string; value: string }[] }[]
        configured: boolean
        secretName: string
        lastUpdated: number
      }
      const [group] = secretConfig
      const values = Object.fromEntries((group?.configuration ?? []).map(({ name, value }) => [name, value]))
      if (added.configurationId === '') added.configurationId = group?.configurationId ?? ''
      return {
        is: {
          configurationId: group?.configurationId,
          name: group?.name,
          configured,
          secretName,
          values,
          saved: lastUpdated > 0,
        },
        shouldBe: {
          ...pick(added, 'configurationId', 'name', 'configured', 'secretName'),
          values: viewValues(first.connectorId, added),
          saved: added.saved,
        },
        etagOf: [added.configurationId, added.version],
      }
    },
  },
  configureConnector: {
    needs: 'account',
    version: ({ call, added }) => {
      const saved = configurationOf(added, call.body?.configurationId)
      return `${saved?.configurationId}@${saved?.version}`
    },
    refusals: ({ call, account, added }) => {
      const codes = addedOrRefusal(account, call.id)
      const connector = connectorById(call.id ?? '')
      if (codes.length > 0 || !connector) return codes
      const { configurationId, secretConfig, name } = call.body ?? {}
      const saved = configurationOf(added, configurationId)
      if (!saved) return ['not_found']
      const values = merged(connector.secrets, saved.values, secretConfig as Values)
      if (!values || !isComplete(connector.secrets, values)) codes.push('invalid_request')
      else if (!areActiveComplete(account, connector, saved, values)) codes.push('connection_not_ready')
      if (isTaken(added, name, saved)) codes.push('configuration_exists')
      return codes
    },
    answer: ({ call, added: first }, payload) => {
      const { name, secretName, secretConfig } = call.body ?? {}
      const { configurationId, lastUpdated } = payload as { configurationId: string; lastUpdated: number }
      const added = configurationOf(first, call.body?.configurationId) ?? first
      added.values = merged(connectorById(first.connectorId)?.secrets ?? {}, added.values, secretConfig as Values) ?? {}
      added.name = name === undefined ? added.name : String(name).trim()
      added.secretName = secretName === undefined ? added.secretName : String(secretName).trim()
      added.configurationId ||= configurationId
      Object.assign(added, { configured: true, saved: true, version: added.version + 1 })
      return {
        is: { ...pick(payload, 'configurationId', 'name', 'secretName', 'configured'), saved: lastUpdated > 0 },
        shouldBe: { ...pick(added, 'configurationId', 'name', 'secretName', 'configured'), saved: true },
      }
    },
  },
  createConnectorConfiguration: {
    needs: 'account',
    refusals: ({ call, account, added }) => {
      const codes = addedOrRefusal(account, call.id)
      const connector = connectorById(call.id ?? '')
      if (codes.length > 0 || !connector) return codes
      const { secretConfig, name } = call.body ?? {}
      if (isTaken(added, name)) codes.push('configuration_exists')
      const values = secretConfig && merged(connector.secrets, {}, secretConfig as Values)
      if (secretConfig && !(values && isComplete(connector.secrets, values as Values))) codes.push('invalid_request')
      return codes
    },
    answer: ({ call, account, added }, payload) => {
      const { name, secretName, secretConfig } = call.body ?? {}
      const { configurationId } = payload as { configurationId: string }
      const connector = connectorById(added.connectorId)
      const made: Configuration = {
        configurationId,
        configured: secretConfig !== undefined || (connector !== undefined && isConfiguredFromStart(connector)),
        name: String(name).trim(),
        secretName:
          secretName === undefined ? `${connector?.slug}/${account.id}/${configurationId}` : String(secretName).trim(),
        values: secretConfig === undefined ? {} : (merged(connector?.secrets ?? {}, {}, secretConfig as Values) ?? {}),
        saved: secretConfig !== undefined,
        version: secretConfig === undefined ? 1 : 2,
      }
      added.others.set(configurationId, made)
      return viewSaved(made, payload)
    },
  },
  deleteConnectorConfiguration: {
    needs: 'account',
    version: ({ call, added }) => {
      const deleted = configurationOf(added, call.query?.configurationId)
      return `${deleted?.configurationId}@${deleted?.version}`
    },
    refusals: ({ call, account, added }) => {
      const codes = addedOrRefusal(account, call.id)
      if (codes.length > 0) return codes
      const deleted = configurationOf(added, call.query?.configurationId)
      if (!deleted) return ['not_found']
      if (deleted === added) codes.push('configuration_is_first')
      const used = [...account.connections.values()].some(
        (one) => isLive(one) && [one.srcOther, one.destOther].includes(deleted.configurationId),
      )
      return used ? [...codes, 'configuration_in_use'] : codes
    },
    answer: ({ call, added }, payload) => {
      const deleted = configurationOf(added, call.query?.configurationId) ?? added
      added.others.delete(deleted.configurationId)
      return viewSaved(deleted, payload)
    },
  },
  removeConnector: {
    needs: 'account',
    refusals: ({ call, account }) => {
      const codes = addedOrRefusal(account, call.id)
      const used = [...account.connections.values()].some(
        (one) => isLive(one) && [one.src, one.dest].includes(call.id ?? ''),
      )
      return used ? [...codes, 'connector_in_use'] : codes
    },
    version: ({ added }) => `${added.configurationId}@${added.version}`,
    answer: ({ account, added }, payload) => {
      const shouldBe = viewAdded(account, added.connectorId)
      account.added.delete(added.connectorId)
      return { is: shows.added(payload), shouldBe }
    },
  },
} satisfies Record<string, Rule>

/** Every operation that the simulation calls. */
export const rules: Readonly<Partial<Record<OperationId, Rule>>> = {
  ...accountRules,
  ...connectorRules,
  ...connectionRules,
}
