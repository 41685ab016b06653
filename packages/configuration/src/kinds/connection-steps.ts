import type { ConnectionWithSettings } from '@penstock/wire'
import { persistently, withBound } from '../calls.ts'
import { connectorIdOf } from '../definitions.ts'
import { ChangedMeanwhile, isRefused } from '../failures.ts'
import { readAll, scopesFor } from '../read-all.ts'
import type { Applying, Change, Entry, ManagedKind, Step } from '../resource-kind.ts'
import { differences, type FieldChange, isSame, type Values } from '../values.ts'
import { createdTooOften, creationKey, generationsMax } from '../writes.ts'
import { type AnyAttribute, attributes, type DesiredAttributes } from './connection-attributes/attributes.ts'
import type { ConnectionState } from './connection-state.ts'
import { keyOfConfiguration } from './connector-steps.ts'

/**
 * How connections are applied. Each step compares the current state with the state in the plan, so that changes by others are not
 * overwritten.
 */

type Side = {
  readonly slug: string
  /** As its configuration is named among the connectors of the sub-account. */
  readonly connector: string
  readonly settings: Values
}
export type DesiredConnection = Entry &
  DesiredAttributes & {
    readonly source: Side
    readonly destination: Side
    readonly mapping?: Readonly<Record<string, unknown>> | undefined
    readonly status?: 'active' | 'disabled' | undefined
  }
export type Configs = {
  readonly srcConnectionConfig: Readonly<Record<string, unknown>>
  readonly destConnectionConfig: Readonly<Record<string, unknown>>
}
export type Own = {
  /** The values that are created or updated; undefined if only attributes or the status change. */
  readonly saves?: Configs | undefined
  /** The sides whose configuration is set, after it was created. Null: the apply creates it. */
  readonly configures?: Partial<Record<'source' | 'destination', string | null>>
  /** The attributes that change. */
  readonly sets?: readonly AnyAttribute[]
  readonly statusAction?: 'activate' | 'disable' | undefined
}
type ConnectionChange = Change<DesiredConnection, ConnectionState, Own>

/** The two sides as a file and as the API call them. */
export const sides = [
  { path: 'source', config: 'srcConnectionConfig', configuration: 'srcConfigurationId', role: 'Source' },
  { path: 'destination', config: 'destConnectionConfig', configuration: 'destConfigurationId', role: 'Destination' },
] as const

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
    // Before transfers start. The schedule is the first attribute, so it is set last.
    ...attributes.toReversed().map(
      (attribute): Step<ConnectionChange> => ({
        stage: 'start',
        when: ({ action, sets = [] }) => action !== 'delete' && sets.includes(attribute),
        async run(change, applying) {
          const { accountId, id } = locate(applying, change)
          const existing = change.action === 'update' ? change.existing : undefined
          if (change.desired) await attribute.set({ accountId, id }, change.desired, existing, applying)
        },
      }),
    ),
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
          return applying.fail(change, 'It is not activated, because one of its connectors could not be changed.')
        await setStatus(change, applying)
      },
    },
  ],
}

type Seen = Pick<ConnectionState, 'name' | 'status' | 'srcConnectionConfig' | 'destConnectionConfig'>
type At = { readonly accountId: string; readonly id: string }

/** The configurations that a change sets. They exist by then. */
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
  if (!known || !accountId) throw new Error(`The connection ${change.name} does not exist yet`)
  return { accountId, id: known.id, etag: known.etag }
}

/**
 * Writes to the known version. `isDone` finds out whether a concurrent apply of the same files has already written it.
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

/** Whether these values equal the wanted ones, except values that the service fills itself. */
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
 * Creates connections, each only once, even if this runs repeatedly or concurrently: the idempotency key of a creation follows
 * from the name. The first answer of a key may refer to a connection that was deleted or renamed since. A list of all current
 * connections shows this, and the next key is then used for the missing ones.
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
