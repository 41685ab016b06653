import type { Blackout, ConnectionRule, ConnectionWithSettings, DriftMode, ScheduleEntry } from '@penstock/wire'
import { persistently, withBound } from '../calls.ts'
import { connectorIdOf } from '../definitions.ts'
import { ChangedMeanwhile, isRefused } from '../failures.ts'
import { readAll, scopesFor } from '../read-all.ts'
import type { Applying, Change, Entry, ManagedKind } from '../resource-kind.ts'
import { differences, type FieldChange, isSame, type Values } from '../values.ts'
import { createdTooOften, creationKey, deleteOnce, generationsMax } from '../writes.ts'
import { areSameRules, wantedRules } from './connection-rules.ts'
import { keyOfConfiguration } from './connector-steps.ts'
import { setConditions } from './run-conditions.ts'

/** How connections are applied. Each step says what it expects to find, so that what someone else changed meanwhile stays. */

type Side = {
  readonly slug: string
  /** As its configuration is named among the connectors of the sub-account. */
  readonly connector: string
  readonly settings: Values
}
export type Schedule = { readonly cron: string; readonly timezone: string; readonly enabled: boolean }
export type DesiredConnection = Entry & {
  readonly source: Side
  readonly destination: Side
  readonly mapping?: Readonly<Record<string, unknown>> | undefined
  readonly schedule?: Schedule | undefined
  readonly drift?: DriftMode | undefined
  readonly rules?: readonly ConnectionRule[] | undefined
  readonly blackout?: Blackout | undefined
  readonly runAfter?: readonly string[] | undefined
  /** Empty: none. */
  readonly group?: string | undefined
  readonly tags?: readonly string[] | undefined
  /** An e-mail address; empty: none. */
  readonly owner?: string | undefined
  readonly status?: 'active' | 'disabled' | undefined
}
export type ConnectionState = ConnectionWithSettings & {
  /** The slugs of its connectors. */
  readonly source: string
  readonly destination: string
  /** The names of their configurations; undefined: the first one. */
  readonly sourceConfiguration: string | undefined
  readonly destinationConfiguration: string | undefined
  readonly schedule?: ScheduleEntry | undefined
  /** The names of the connections that it runs after; the identifier of one that was deleted. */
  readonly after: readonly string[]
  /** The names that it had before, as its history has them. */
  readonly formerNames: () => Promise<string[]>
}
export type Configs = {
  readonly srcConnectionConfig: Readonly<Record<string, unknown>>
  readonly destConnectionConfig: Readonly<Record<string, unknown>>
}
export type Own = {
  /** The values that are created or updated; undefined if only the schedule, the drift or the status changes. */
  readonly saves?: Configs | undefined
  /** The sides whose configuration is set; it is created by then. Null: that is done by the apply. */
  readonly configures?: Partial<Record<'source' | 'destination', string | null>>
  readonly setsSchedule?: boolean
  readonly setsDrift?: boolean
  readonly setsRules?: boolean
  readonly setsConditions?: boolean
  readonly setsLabels?: boolean
  readonly statusAction?: 'activate' | 'disable' | undefined
}
type ConnectionChange = Change<DesiredConnection, ConnectionState, Own>

/** The two sides as a file and as the API call them. */
export const sides = [
  { path: 'source', config: 'srcConnectionConfig', configuration: 'srcConfigurationId', role: 'Source' },
  { path: 'destination', config: 'destConnectionConfig', configuration: 'destConfigurationId', role: 'Destination' },
] as const

export const scheduleKeys = ['cron', 'timezone', 'enabled'] as const

export const steps: Pick<
  ManagedKind<DesiredConnection, ConnectionState, Own>,
  'create' | 'update' | 'remove' | 'also'
> = {
  remove: {
    stage: 'connections',
    async run(change, applying) {
      if (!change.existing) return
      try {
        await write(change, applying, (at) => applying.client.deleteConnection(at))
      } catch (error) {
        if (!isRefused(error, 'connection_deleted', 'not_found')) throw error
      }
    },
  },
  update: {
    stage: 'connections',
    when: ({ action, saves }) => action === 'update' && saves !== undefined,
    async run(change, applying) {
      const { saves, name } = change
      if (!saves) return
      const ids = configurationIdsOf(change, applying)
      const body = { name, ...saves, ...ids } as never
      const isDone = (now: ConnectionWithSettings | Seen) =>
        now.name === name && sides.every(({ config }) => includes(now[config], saves[config])) && includes(now, ids)
      const version = await write(change, applying, (at) => applying.client.updateConnection({ ...at, body }), isDone)
      applying.connections.set(change, version)
    },
  },
  create: { stage: 'connections', runAll: create },
  also: [
    // Before anything else of them changes.
    {
      stage: 'stop',
      when: ({ action, statusAction }) => action === 'update' && statusAction === 'disable',
      run: setStatus,
    },
    // Before transfers start.
    {
      stage: 'start',
      when: ({ action, setsRules }) => action !== 'delete' && setsRules === true,
      run: setRules,
    },
    {
      stage: 'start',
      when: ({ action, setsConditions }) => action !== 'delete' && setsConditions === true,
      run: (change, applying) =>
        setConditions(locate(applying, change), change.desired ?? {}, change.existing, applying),
    },
    {
      stage: 'start',
      when: ({ action, setsSchedule }) => action !== 'delete' && setsSchedule === true,
      run: setSchedule,
    },
    {
      stage: 'start',
      when: ({ action, setsDrift }) => action !== 'delete' && setsDrift === true,
      run: setDrift,
    },
    {
      stage: 'start',
      when: ({ action, setsLabels }) => action !== 'delete' && setsLabels === true,
      run: setLabels,
    },
    {
      stage: 'start',
      when: ({ action, statusAction }) =>
        statusAction !== undefined && (action !== 'update' || statusAction === 'activate'),
      async run(change, applying) {
        const { desired, statusAction } = change
        if (!desired) return
        if (
          statusAction === 'activate' &&
          applying.lacks(change, [desired.source.connector, desired.destination.connector])
        )
          return applying.fail(change, 'One of its connectors could not be changed: it is not activated.')
        await setStatus(change, applying)
      },
    },
  ],
}

type Seen = Pick<ConnectionState, 'name' | 'status' | 'srcConnectionConfig' | 'destConnectionConfig'>
type At = { readonly accountId: string; readonly id: string }

/** The configurations that a change sets, which exist by now. */
function configurationIdsOf({ account, desired, configures = {} }: ConnectionChange, applying: Applying) {
  const ids: { srcConfigurationId?: string; destConfigurationId?: string } = {}
  for (const { path, configuration } of sides) {
    const known = configures[path]
    if (known === undefined || !desired) continue
    const made = applying.configurationIds.get(keyOfConfiguration(account, desired[path].connector))
    const id = known ?? made
    if (id === undefined) throw `The configuration ${desired[path].connector} could not be created.`
    ids[configuration] = id
  }
  return ids
}

/** A connection as the plan found it, or as an earlier step left it. */
function locate({ connections, accountIds }: Applying, change: ConnectionChange): At & { readonly etag: string } {
  const known = connections.get(change) ?? change.existing
  const accountId = change.existing?.accountId ?? accountIds.get(change.account ?? '')
  if (!known || !accountId) throw new Error(`The connection ${change.name} is not there yet`)
  return { accountId, id: known.id, etag: known.etag }
}

/**
 * Writes to the version that is known. `isDone` says whether another apply of the same files beside this one has done it.
 * @returns the next version
 */
async function write(
  change: ConnectionChange,
  applying: Applying,
  call: (at: At & { readonly ifMatch: string }) => Promise<{ etag: string | undefined }>,
  isDone: (now: Seen) => boolean = () => false,
): Promise<{ id: string; etag: string }> {
  const { accountId, id, etag: ifMatch } = locate(applying, change)
  try {
    const { etag = ifMatch } = await persistently(() => call({ accountId, id, ifMatch }))
    return { id, etag }
  } catch (error) {
    if (!isRefused(error, 'precondition_failed')) throw error
    const { reply, etag = ifMatch } = await persistently(() => applying.client.getConnection({ accountId, id }))
    if (!isDone(reply)) throw new ChangedMeanwhile(change.existing ? whatChanged(change.existing, reply) : [])
    return { id, etag }
  }
}

async function setStatus(change: ConnectionChange, applying: Applying): Promise<void> {
  const { statusAction: action } = change
  if (!action) return
  const version = await write(
    change,
    applying,
    (at) => applying.client.updateConnectionStatus({ ...at, body: { action } }),
    ({ status }) => status === (action === 'activate' ? 'active' : 'disabled'),
  )
  applying.connections.set(change, version)
}

/** Whether these values are the wanted ones, but for those that the service fills itself. */
const includes = (values: object, wanted: Readonly<Record<string, unknown>>) =>
  Object.entries(wanted).every(([key, value]) => isSame((values as Record<string, unknown>)[key], value))

function whatChanged(before: Seen, now: Seen): FieldChange[] {
  const resolved = (values: object) =>
    new Map(Object.entries(values).map(([key, value]) => [key, { value, shown: value }]))
  return [
    ...(['name', 'status'] as const).filter((key) => before[key] !== now[key]).map((field) => ({ field })),
    ...sides.flatMap(({ path, config }) => differences(`${path}.settings`, before[config], resolved(now[config]))),
  ]
}

/**
 * Creates connections, each once, however often this runs and however many do at once: the key of a creation follows from the
 * name. The first answer of a key may be about a connection that was deleted or renamed since. A list of what is there now
 * says, for all at once; for those the next key counts.
 */
async function create(changes: readonly ConnectionChange[], applying: Applying): Promise<void> {
  const { client } = applying
  const accountIdOf = ({ account }: ConnectionChange) => applying.accountIds.get(account ?? '') ?? ''
  let open = changes
  for (let generation = 0; open.length > 0; generation++) {
    const made = new Map<ConnectionChange, string>()
    await applying.each(open, async (change) => {
      const { desired, saves, name } = change
      if (!desired || !saves) return
      if (generation === generationsMax) throw createdTooOften
      const accountId = accountIdOf(change)
      const body = {
        name,
        srcConnectorId: connectorIdOf(desired.source.slug),
        destConnectorId: connectorIdOf(desired.destination.slug),
        ...configurationIdsOf(change, applying),
        ...saves,
      } as never
      const idempotencyKey = creationKey('connection', accountId, name, generation)
      try {
        const { reply } = await persistently(() => client.createConnection({ accountId, body, idempotencyKey }))
        made.set(change, reply.id)
      } catch (error) {
        if (!isRefused(error, 'idempotency_key_reused')) throw error
      }
    })
    const left = open.filter((change) => !applying.hasFailed(change))
    if (left.length === 0) return
    const scopes = scopesFor([...new Set(left.map(accountIdOf))])
    const lists = await withBound(scopes, (accountId) => readAll(client, 'listConnectionDetails', accountId))
    const there = new Map(lists.flat().map((one) => [one.id, one]))
    open = left.filter((change) => {
      const found = there.get(made.get(change) ?? '')
      if (found?.name === change.name) {
        applying.connections.set(change, { id: found.id, etag: found.etag })
        return false
      }
      const isOther = [...there.values()].some(
        (one) => one.accountId === accountIdOf(change) && one.name === change.name,
      )
      if (isOther) applying.fail(change, new ChangedMeanwhile([{ field: 'name' }]))
      return !isOther
    })
  }
}

/** Sets or removes a schedule. It has no version: what is there is compared with what the plan found right before. */
async function setSchedule(change: ConnectionChange, applying: Applying): Promise<void> {
  const { accountId, id } = locate(applying, change)
  const { client } = applying
  const wanted = change.desired?.schedule
  if (change.action === 'update') {
    const found = change.existing?.schedule
    const now = await persistently(() => client.getSchedule({ accountId, id })).then(
      ({ reply }) => reply,
      (error) => {
        if (isRefused(error, 'not_found')) return undefined
        throw error
      },
    )
    const changed = scheduleKeys.filter((key) => found?.[key] !== now?.[key])
    const isWanted = wanted && now && changed.every((key) => now[key] === wanted[key])
    if (changed.length > 0 && !isWanted)
      throw new ChangedMeanwhile(changed.map((key) => ({ field: `schedule.${key}` })))
  }
  if (wanted) await persistently(() => client.setSchedule({ accountId, id, body: wanted }))
  else await deleteOnce(() => client.deleteSchedule({ accountId, id }), 'not_found')
}

/** Sets what column changes do. It has no version: what is there is compared with what the plan found right before. */
async function setDrift(change: ConnectionChange, applying: Applying): Promise<void> {
  const { accountId, id } = locate(applying, change)
  const { client } = applying
  const wanted = change.desired?.drift
  if (wanted === undefined) return
  if (change.action === 'update') {
    const { reply } = await persistently(() => client.getDrift({ accountId, id }))
    if (reply.drift !== change.existing?.drift && reply.drift !== wanted)
      throw new ChangedMeanwhile([{ field: 'drift' }])
  }
  await persistently(() => client.setDrift({ accountId, id, body: { drift: wanted } }))
}

/** Sets all rules. They have no version: what is there is compared with what the plan found right before. */
async function setRules(change: ConnectionChange, applying: Applying): Promise<void> {
  const { accountId, id } = locate(applying, change)
  const { client } = applying
  const wanted = change.desired && wantedRules(change.desired, change.existing)
  if (!wanted) return
  if (change.action === 'update') {
    const { reply } = await persistently(() => client.getConnectionRules({ accountId, id }))
    if (!areSameRules(reply, change.existing) && !areSameRules(reply, wanted))
      throw new ChangedMeanwhile([{ field: 'rules' }])
  }
  await persistently(() => client.setConnectionRules({ accountId, id, body: { ...wanted, rules: [...wanted.rules] } }))
}

/** Sets tags and owner. They have no version: what is there is compared with what the plan found right before. */
async function setLabels(change: ConnectionChange, applying: Applying): Promise<void> {
  const { accountId, id } = locate(applying, change)
  const { client } = applying
  const { tags, owner } = change.desired ?? {}
  const { existing } = change
  if (change.action === 'update' && existing) {
    const { reply } = await persistently(() => client.getConnectionLabels({ accountId, id }))
    const isSame = String(reply.tags) === String(existing.tags) && reply.owner?.id === existing.owner?.id
    const isDone =
      (tags === undefined || String(reply.tags) === String(tags)) && (owner ?? '') === (reply.owner?.email ?? '')
    if (!isSame && !isDone) throw new ChangedMeanwhile([{ field: 'tags' }, { field: 'owner' }])
  }
  const body = {
    ...(tags === undefined ? {} : { tags: [...tags] }),
    ...(owner === undefined ? {} : { ownerEmail: owner === '' ? null : owner }),
  }
  await persistently(() => client.setConnectionLabels({ accountId, id, body }))
}
