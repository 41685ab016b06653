import type { AlertRule, Webhook } from '@penstock/wire'
import type { Desired, DesiredAccount, DesiredConnection, DesiredOrganization } from './desired.ts'
import { matchAll } from './match.ts'
import { type AlertRuleContent, type AlertSecret, type Connections, planAlertRules } from './plan-alert-rules.ts'
import { planConnection } from './plan-connection.ts'
import { planConnector } from './plan-connector.ts'
import { planWebhooks, type WebhookContent } from './plan-webhooks.ts'
import { ConfigurationError, type Position, type Problem } from './problems.ts'
import type { Resolver } from './references.ts'
import type { AccountState, ConnectionState, Definitions, ServiceState } from './service-state.ts'
import type { FieldChange } from './values.ts'

/** What would make a service what the files say. */

type About = {
  readonly action: 'create' | 'update' | 'replace' | 'delete'
  /** The name of the sub-account in the files; null: the organization. */
  readonly account: string | null
  readonly name: string
  readonly fields: readonly FieldChange[]
  readonly at?: Position | undefined
}
type OfAccount = About & { readonly account: string }
export type AccountChange = OfAccount & {
  readonly kind: 'account'
  readonly existing?: AccountState | undefined
  readonly desired?: DesiredAccount | undefined
}
export type ConnectorChange = OfAccount & {
  readonly kind: 'connector'
  readonly existing?: { readonly accountId: string; readonly etag: string } | undefined
  readonly connectorId: string
  readonly slug: string
  /** What is saved; undefined where nothing is. Secrets are resolved when they are sent. */
  readonly saves?:
    | {
        readonly name?: string | undefined
        readonly secretName?: string | undefined
        readonly settings: Readonly<Record<string, unknown>>
        readonly secrets: Readonly<Record<string, string | null>>
      }
    | undefined
}
export type ConnectionChange = OfAccount & {
  readonly kind: 'connection'
  readonly existing?: ConnectionState | undefined
  readonly desired?: DesiredConnection | undefined
  /** What is created or updated; undefined where only the schedule or the status changes. */
  readonly saves?:
    | {
        readonly srcConnectionConfig: Readonly<Record<string, unknown>>
        readonly destConnectionConfig: Readonly<Record<string, unknown>>
      }
    | undefined
  readonly setsSchedule: boolean
  readonly statusAction?: 'activate' | 'disable' | undefined
}
export type WebhookChange = About & {
  readonly kind: 'webhook'
  readonly existing?: Webhook | undefined
  readonly saves?: WebhookContent | undefined
}
/** A connection that is there, or that a change makes. */
export type ConnectionTarget = { readonly id: string } | { readonly change: ConnectionChange }
export type AlertRuleChange = About & {
  readonly kind: 'alertRule'
  readonly existing?: AlertRule | undefined
  readonly saves?: AlertRuleContent | undefined
  /** Null: all. */
  readonly connections: readonly ConnectionTarget[] | null
  /** Resolved when they are sent. */
  readonly secrets: Readonly<Partial<Record<AlertSecret, string | null>>>
}
export type Change = AccountChange | ConnectorChange | ConnectionChange | WebhookChange | AlertRuleChange

/** What is in the organization or its sub-accounts and not in the files, and is left alone. */
export type Unmanaged = { readonly kind: Change['kind']; readonly account: string | null; readonly name: string }

export type Plan = {
  readonly changes: readonly Change[]
  /** The identifiers of the sub-accounts of the files that are there, by their names in the files. */
  readonly accountIds: ReadonlyMap<string, string>
  readonly unmanaged: readonly Unmanaged[]
  /** What a person has to know or do. */
  readonly notes: readonly string[]
  /** References to secrets that would be sent, and cannot be resolved here. */
  readonly missing: readonly Problem[]
}

export type PlanOptions = {
  /** Deletes the connections, connectors, webhooks and alert rules that are not in the files, and replaces connections whose connectors differ. */
  readonly allowDestroy?: boolean | undefined
  /** Deletes sub-accounts that are not in the files, with all that they hold. */
  readonly allowDestroyAccounts?: boolean | undefined
  /** Sends every secret that the files have, also where it is set already. */
  readonly setSecrets?: boolean | undefined
}

/** What the plans of single resources need, and collect. */
export type Planning = {
  readonly options: PlanOptions
  readonly definitions: Definitions
  readonly resolver: Resolver
  readonly problems: Problem[]
  readonly notes: string[]
  readonly missing: Problem[]
}
/**
 * Compares what the files say with what there is.
 * @throws ConfigurationError with everything that prevents a plan
 */
export async function makePlan(
  { accounts: desired, organization }: Desired,
  state: ServiceState,
  given: Pick<Planning, 'options' | 'definitions' | 'resolver'>,
): Promise<Plan> {
  const planning: Planning = { ...given, problems: [], notes: [], missing: [] }
  const { problems, notes, missing, options } = planning
  const changes: Change[] = []
  const unmanaged: Unmanaged[] = []
  const matched = matchAll(desired, state.accounts, ({ name }) => `sub-account ${name}`, problems)
  const taken = new Set(matched.values())
  for (const account of desired) {
    changes.push(...(await planAccount(account, matched.get(account), planning, unmanaged)))
  }
  const connections = connectionsOf(state, matched, changes)
  const planOwned = async (name: string | null, accountId: string | null | undefined, of: DesiredOrganization) => {
    const isOwn = (one: { accountId: string | null }) => one.accountId === accountId
    const { webhooks, alertRules } = of
    if (webhooks)
      changes.push(...(await planWebhooks(name, webhooks, state.webhooks.filter(isOwn), planning, unmanaged)))
    if (alertRules) {
      const there = state.alertRules.filter(isOwn)
      changes.push(...(await planAlertRules(name, alertRules, there, connections, planning, unmanaged)))
    }
  }
  for (const account of desired) await planOwned(account.name, matched.get(account)?.id, account)
  await planOwned(null, null, organization)
  for (const account of state.accounts.filter((one) => !taken.has(one))) {
    const about = { kind: 'account', account: account.name, name: account.name } as const
    if (options.allowDestroyAccounts) changes.push({ ...about, action: 'delete', fields: [], existing: account })
    else unmanaged.push(about)
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
  const accountIds = new Map([...matched].map(([{ name }, { id }]) => [name, id]))
  return { changes, accountIds, unmanaged, notes, missing }
}

async function planAccount(
  account: DesiredAccount,
  existing: AccountState | undefined,
  planning: Planning,
  unmanaged: Unmanaged[],
): Promise<Change[]> {
  const { options, problems } = planning
  const changes: Change[] = []
  const about = { kind: 'account', account: account.name, name: account.name, at: account.at('name') } as const
  const fields = [
    ...(existing && existing.name !== account.name ? [{ field: 'name', from: existing.name, to: account.name }] : []),
    ...(account.enabled !== undefined && account.enabled !== (existing?.enabled ?? true)
      ? [{ field: 'enabled', ...(existing ? { from: existing.enabled } : {}), to: account.enabled }]
      : []),
  ]
  if (!existing) changes.push({ ...about, action: 'create', fields, desired: account })
  else if (fields.length > 0) changes.push({ ...about, action: 'update', fields, desired: account, existing })

  const isAdded = (slug: string) =>
    existing?.connectors.has(slug) || account.connectors.some((connector) => connector.slug === slug)
  const touched = new Set<string>()
  const waiting = new Set<string>()
  for (const connector of account.connectors) {
    const planned = await planConnector(account, connector, existing, planning)
    if (planned.waits) waiting.add(connector.slug)
    if (!planned.change) continue
    touched.add(connector.slug)
    changes.push(planned.change)
  }
  const there = existing?.connections ?? []
  const describe = ({ name }: DesiredConnection) => `connection ${name} of the sub-account ${account.name}`
  const matched = matchAll(account.connections, there, describe, problems)
  const taken = new Set(matched.values())
  for (const connection of account.connections) {
    const found = matched.get(connection)
    for (const [path, { slug }] of [
      ['source', connection.source],
      ['destination', connection.destination],
    ] as const) {
      if (isAdded(slug)) continue
      const message = `${slug} is not added to the sub-account ${account.name}: list it under its connectors.`
      problems.push({ message, at: connection.at(path, 'connector') })
    }
    const change = await planConnection(account, connection, found, { touched, waiting }, planning)
    if (change) changes.push(change)
  }
  const leftConnections = there.filter((connection) => !taken.has(connection))
  const leftConnectors = [...(existing?.connectors.values() ?? [])].filter(
    ({ slug }) => !account.connectors.some((connector) => connector.slug === slug),
  )
  for (const connection of leftConnections) {
    const left = { kind: 'connection', account: account.name, name: connection.name } as const
    if (options.allowDestroy)
      changes.push({ ...left, action: 'delete', fields: [], existing: connection, setsSchedule: false })
    else unmanaged.push(left)
  }
  const used = new Set(account.connections.flatMap(({ source, destination }) => [source.slug, destination.slug]))
  for (const { slug, connectorId, accountId, etag } of leftConnectors) {
    const left = { kind: 'connector', account: account.name, name: slug } as const
    if (!options.allowDestroy || used.has(slug)) unmanaged.push(left)
    else changes.push({ ...left, action: 'delete', fields: [], slug, connectorId, existing: { accountId, etag } })
  }
  return changes
}

/** The connections that rules can name: by what they are called in the files, or in the service where no file has them. */
function connectionsOf(
  { accounts }: ServiceState,
  matched: ReadonlyMap<DesiredAccount, AccountState>,
  changes: readonly Change[],
): Connections {
  const names = new Map<string, string>()
  const targets = new Map<string, ConnectionTarget | 'several'>()
  const keyOf = (account: string, name: string) => JSON.stringify([account, name])
  const add = (account: string, name: string, target: ConnectionTarget) =>
    targets.set(keyOf(account, name), targets.has(keyOf(account, name)) ? 'several' : target)
  const namesInFiles = new Map([...matched].map(([{ name }, state]) => [state, name]))
  const ofConnections = changes.filter((change) => change.kind === 'connection')
  const changeOf = new Map(ofConnections.map((change) => [change.existing?.id, change]))
  for (const state of accounts)
    for (const { id, name } of state.connections) {
      const account = namesInFiles.get(state) ?? state.name
      const change = changeOf.get(id)
      if (change?.action === 'delete') continue
      names.set(id, name)
      const target = change?.action === 'replace' ? { change } : { id }
      add(account, change?.name ?? name, target)
      targets.set(keyOf(account, id), target)
    }
  for (const change of ofConnections) if (change.action === 'create') add(change.account, change.name, { change })
  return {
    find: (account, name) => {
      const found = targets.get(keyOf(account, name))
      return found === 'several' ? undefined : found
    },
    nameOf: (id) => names.get(id),
  }
}

/** Whether a plan takes something away, or replaces it. */
export const destroys = ({ changes }: Plan): Change[] =>
  changes.filter(({ action }) => action === 'delete' || action === 'replace')
