import type { Applying } from './apply.ts'
import { persistently } from './calls.ts'
import { ChangedMeanwhile, isRefused } from './failures.ts'
import { creationKey, generationsMax } from './keys.ts'
import type { ConnectionChange } from './plan.ts'
import { connectorIdOf, readConnections } from './service-state.ts'
import { differences, type FieldChange, isSame } from './values.ts'

/** The steps of connections. Each says what it expects to find, so that what someone else changed meanwhile stays. */

/** Stops those that are to stop, before anything else of them changes. */
export const disable = (applying: Applying, changes: readonly ConnectionChange[]) =>
  applying.each(
    changes.filter(({ action, statusAction }) => action === 'update' && statusAction === 'disable'),
    (change) => setStatus(applying, change, 'disable'),
  )

/** Activates those that are to carry data, and disables those that are made disabled. */
export const activate = (applying: Applying, changes: readonly ConnectionChange[]) =>
  applying.each(
    changes.filter(({ action, statusAction }) => statusAction && (action !== 'update' || statusAction === 'activate')),
    async (change) => {
      const { desired, statusAction } = change
      if (!desired || !statusAction) return
      if (statusAction === 'activate' && applying.lacks(change, [desired.source.slug, desired.destination.slug]))
        return applying.fail(change, 'One of its connectors could not be changed: it is not activated.')
      await setStatus(applying, change, statusAction)
    },
  )

export const deleteConnections = (applying: Applying, changes: readonly ConnectionChange[]) =>
  applying.each(
    changes.filter(({ action }) => action === 'delete' || action === 'replace'),
    async ({ existing }) => {
      if (!existing) return
      const { accountId, id, etag: ifMatch } = existing
      try {
        await persistently(() => applying.client.deleteConnection({ accountId, id, ifMatch }))
      } catch (error) {
        if (isRefused(error, 'precondition_failed')) {
          const { reply } = await persistently(() => applying.client.getConnection({ accountId, id }))
          throw new ChangedMeanwhile(whatChanged(existing, reply))
        }
        if (!isRefused(error, 'connection_deleted', 'not_found')) throw error
      }
    },
  )

export async function createAndUpdate(applying: Applying, changes: readonly ConnectionChange[]): Promise<void> {
  await applying.each(
    changes.filter(({ action, saves }) => action === 'update' && saves),
    (change) => update(applying, change),
  )
  await create(
    applying,
    changes.filter(({ action }) => action === 'create' || action === 'replace'),
  )
}

/** Where a connection is by now: as the plan found it, or as an earlier step left it. */
function targetOf(applying: Applying, change: ConnectionChange): { accountId: string; id: string; etag: string } {
  const known = applying.connections.get(change) ?? change.existing
  const accountId = change.existing?.accountId ?? applying.accountIds.get(change.account)
  if (!known || !accountId) throw new Error(`The connection ${change.name} is not there yet`)
  return { accountId, id: known.id, etag: known.etag }
}

async function setStatus(applying: Applying, change: ConnectionChange, action: 'activate' | 'disable'): Promise<void> {
  const { accountId, id, etag: ifMatch } = targetOf(applying, change)
  const { client } = applying
  try {
    const { etag } = await persistently(() =>
      client.updateConnectionStatus({ accountId, id, body: { action }, ifMatch }),
    )
    applying.connections.set(change, { id, etag: etag ?? ifMatch })
  } catch (error) {
    if (!isRefused(error, 'precondition_failed')) throw error
    const { reply, etag } = await persistently(() => client.getConnection({ accountId, id }))
    if (reply.status !== (action === 'activate' ? 'active' : 'disabled'))
      throw new ChangedMeanwhile(change.existing ? whatChanged(change.existing, reply) : [])
    applying.connections.set(change, { id, etag: etag ?? ifMatch })
  }
}

async function update(applying: Applying, change: ConnectionChange): Promise<void> {
  const { saves, name, existing } = change
  if (!saves || !existing) return
  const { accountId, id, etag: ifMatch } = targetOf(applying, change)
  const { client } = applying
  const body = { name, ...saves } as never
  try {
    const { etag } = await persistently(() => client.updateConnection({ accountId, id, body, ifMatch }))
    applying.connections.set(change, { id, etag: etag ?? ifMatch })
  } catch (error) {
    if (!isRefused(error, 'precondition_failed')) throw error
    const { reply, etag } = await persistently(() => client.getConnection({ accountId, id }))
    // Another apply of the same files beside this one has done it.
    const isDone =
      reply.name === name &&
      (['srcConnectionConfig', 'destConnectionConfig'] as const).every((key) => includes(reply[key], saves[key]))
    if (!isDone) throw new ChangedMeanwhile(whatChanged(existing, reply))
    applying.connections.set(change, { id, etag: etag ?? ifMatch })
  }
}

/** Whether these values are the wanted ones, but for those that the service fills itself. */
const includes = (values: object, wanted: Readonly<Record<string, unknown>>) =>
  Object.entries(wanted).every(([key, value]) => isSame((values as Record<string, unknown>)[key], value))

type Seen = Pick<
  NonNullable<ConnectionChange['existing']>,
  'name' | 'status' | 'srcConnectionConfig' | 'destConnectionConfig'
>

function whatChanged(before: Seen, now: Seen): FieldChange[] {
  const resolved = (values: object) =>
    new Map(Object.entries(values).map(([key, value]) => [key, { value, shown: value }]))
  return [
    ...(['name', 'status'] as const).filter((key) => before[key] !== now[key]).map((field) => ({ field })),
    ...differences('source.settings', before.srcConnectionConfig, resolved(now.srcConnectionConfig)),
    ...differences('destination.settings', before.destConnectionConfig, resolved(now.destConnectionConfig)),
  ]
}

/**
 * Creates connections, each once, however often this runs and however many do at once: the key of a creation follows from the
 * name. The first answer of a key may be about a connection that was deleted or renamed since. A list of what is there now
 * says, for all at once; for those the next key counts.
 */
async function create(applying: Applying, changes: readonly ConnectionChange[]): Promise<void> {
  const { client, accountIds } = applying
  let open = changes
  for (let generation = 0; open.length > 0; generation++) {
    const made = new Map<ConnectionChange, string>()
    await applying.each(open, async (change) => {
      const { desired, saves, name, account } = change
      if (!desired || !saves) return
      if (generation === generationsMax)
        throw 'It was created and deleted too often today: create it in the console, then plan again.'
      const accountId = accountIds.get(account) ?? ''
      const body = {
        name,
        srcConnectorId: connectorIdOf(desired.source.slug),
        destConnectorId: connectorIdOf(desired.destination.slug),
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
    const there = await readConnections(client, [...new Set(left.map(({ account }) => accountIds.get(account) ?? ''))])
    open = left.filter((change) => {
      const id = made.get(change)
      const found = id === undefined ? undefined : there.get(id)
      if (found?.name === change.name) {
        applying.connections.set(change, { id: found.id, etag: found.etag })
        return false
      }
      const accountId = accountIds.get(change.account)
      const isOther = [...there.values()].some((one) => one.accountId === accountId && one.name === change.name)
      if (isOther) applying.fail(change, new ChangedMeanwhile([{ field: 'name' }]))
      return !isOther
    })
  }
}

/** Sets and removes schedules. They have no version: what is there is compared with what the plan found right before. */
export const setSchedules = (applying: Applying, changes: readonly ConnectionChange[]) =>
  applying.each(
    changes.filter(({ action, setsSchedule }) => action !== 'delete' && setsSchedule),
    async (change) => {
      const { accountId, id } = targetOf(applying, change)
      const { client } = applying
      const { desired, action } = change
      const wanted = desired?.schedule
      if (action === 'update') {
        const found = change.existing?.schedule
        const now = await persistently(() => client.getSchedule({ accountId, id })).then(
          ({ reply }) => reply,
          (error) => {
            if (isRefused(error, 'not_found')) return undefined
            throw error
          },
        )
        const changed = (['cron', 'timezone', 'enabled'] as const).filter((key) => found?.[key] !== now?.[key])
        const isWanted = wanted && now && changed.every((key) => now[key] === wanted[key])
        if (changed.length > 0 && !isWanted)
          throw new ChangedMeanwhile(changed.map((key) => ({ field: `schedule.${key}` })))
      }
      if (wanted) {
        await persistently(() => client.setSchedule({ accountId, id, body: wanted }))
        return
      }
      try {
        await persistently(() => client.deleteSchedule({ accountId, id }))
      } catch (error) {
        if (!isRefused(error, 'not_found')) throw error
      }
    },
  )
