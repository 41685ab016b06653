import type { DesiredAccount, DesiredConnection } from './desired.ts'
import { planConnection } from './plan-connection.ts'
import { planConnector } from './plan-connector.ts'
import { ConfigurationError, type Position, type Problem } from './problems.ts'
import type { Resolver } from './references.ts'
import type { AccountState, ConnectionState, Definitions, ServiceState } from './service-state.ts'
import type { FieldChange } from './values.ts'

/** What would make a service what the files say. */

type About = {
  readonly action: 'create' | 'update' | 'replace' | 'delete'
  /** The name of the sub-account in the files. */
  readonly account: string
  readonly name: string
  readonly fields: readonly FieldChange[]
  readonly at?: Position | undefined
}
export type AccountChange = About & {
  readonly kind: 'account'
  readonly existing?: AccountState | undefined
  readonly desired?: DesiredAccount | undefined
}
export type ConnectorChange = About & {
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
export type ConnectionChange = About & {
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
export type Change = AccountChange | ConnectorChange | ConnectionChange

export type Plan = {
  readonly changes: readonly Change[]
  /** The identifiers of the sub-accounts of the files that are there, by their names in the files. */
  readonly accountIds: ReadonlyMap<string, string>
  /** What is in the sub-accounts of the files and not in the files, and is left alone. */
  readonly unmanaged: readonly { readonly kind: Change['kind']; readonly account: string; readonly name: string }[]
  /** What a person has to know or do. */
  readonly notes: readonly string[]
  /** References to secrets that would be sent, and cannot be resolved here. */
  readonly missing: readonly Problem[]
}

export type PlanOptions = {
  /** Deletes the connections and connectors that are not in the files, and replaces connections whose connectors differ. */
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
  desired: readonly DesiredAccount[],
  state: ServiceState,
  given: Pick<Planning, 'options' | 'definitions' | 'resolver'>,
): Promise<Plan> {
  const planning: Planning = { ...given, problems: [], notes: [], missing: [] }
  const { problems, notes, missing, options } = planning
  const changes: Change[] = []
  const unmanaged: Plan['unmanaged'][number][] = []
  const matched = matchAll(desired, state.accounts, ({ name }) => `sub-account ${name}`, problems)
  const taken = new Set(matched.values())
  for (const account of desired) {
    changes.push(...(await planAccount(account, matched.get(account), planning, unmanaged)))
  }
  for (const account of state.accounts.filter((one) => !taken.has(one))) {
    const about = { kind: 'account', account: account.name, name: account.name } as const
    if (options.allowDestroyAccounts) changes.push({ ...about, action: 'delete', fields: [], existing: account })
    else unmanaged.push(about)
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
  const accountIds = new Map([...matched].map(([{ name }, { id }]) => [name, id]))
  return { changes, accountIds, unmanaged, notes, missing }
}

type Named = { readonly id: string; readonly name: string }
type Entry = Pick<DesiredAccount, 'name' | 'was' | 'id' | 'at'>

/**
 * Finds what each entry of the files is about: by its identifier, else by its name, else by a name that it had before and that
 * no other entry has.
 */
function matchAll<E extends Entry, T extends Named>(
  entries: readonly E[],
  there: readonly T[],
  describe: (entry: E) => string,
  problems: Problem[],
): Map<E, T> {
  const found = new Map<E, T>()
  const byId = new Map(there.map((one) => [one.id, one]))
  const byName = Map.groupBy(there, ({ name }) => name)
  for (const entry of entries) {
    const { id, at } = entry
    if (id === undefined) continue
    const one = byId.get(id)
    if (one) found.set(entry, one)
    else
      problems.push({
        message: `There is no ${describe(entry)} with the identifier ${id} here. Identifiers are different in every service: give it a name of its own, and remove id.`,
        at: at('id'),
      })
  }
  const take = (entry: E, names: readonly string[]) => {
    const taken = new Set(found.values())
    const free = names.flatMap((name) => byName.get(name) ?? []).filter((one) => !taken.has(one))
    if (free.length > 1)
      problems.push({
        message: `There are ${free.length} that could be the ${describe(entry)}: ${free.map(({ id, name }) => `${id} (${name})`).join(', ')}. Rename all but one of them, or name each by its id.`,
        at: entry.at('name'),
      })
    if (free[0]) found.set(entry, free[0])
  }
  const open = () => entries.filter((entry) => entry.id === undefined && !found.has(entry))
  for (const entry of open()) if (byName.has(entry.name)) take(entry, [entry.name])
  for (const entry of open()) if (entry.was.length > 0) take(entry, entry.was)
  return found
}

async function planAccount(
  account: DesiredAccount,
  existing: AccountState | undefined,
  planning: Planning,
  unmanaged: Plan['unmanaged'][number][],
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

/** Whether a plan takes something away, or replaces it. */
export const destroys = ({ changes }: Plan): Change[] =>
  changes.filter(({ action }) => action === 'delete' || action === 'replace')
