import type { RunConditions } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { refuse, refuseFieldErrors, requireEditable } from '../refusal.ts'
import { holdRunnable, wakeWorkers } from './queries.ts'
import * as queries from './run-conditions-queries.ts'
import type { TransferDeps } from './transfers.ts'

/** Run conditions: transfers of a connection wait for them. Dependents are started in `supervisor/dependents.ts`; groups are in `transfer-groups.ts`. */

/** Answers 404 if there is no such connection. */
export async function getRunConditions({
  db,
  account,
  id,
}: Call<'getRunConditions'>): Promise<Answer<'getRunConditions'>> {
  const found = await queries.findConditions.first(db, { accountId: account.id, connectionId: id })
  return { reply: found ?? refuse('not_found') }
}

/**
 * Replaces the conditions. Refuses connections that do not exist in the sub-account, loops, and unknown groups. The conditions of a
 * sub-account change one after another, so that two concurrent changes cannot make a loop.
 */
export async function setRunConditions(
  { db: tx, account, id: connectionId, body }: Call<'setRunConditions'>,
  deps: TransferDeps,
): Promise<Answer<'setRunConditions'>> {
  const accountId = account.id
  await queries.lockConditions.run(tx, { accountId })
  const row = (await holdRunnable.first(tx, { accountId, id: connectionId })) ?? refuse('not_found')
  requireEditable(row, deps)
  if (row.status === 'deleted') refuse('connection_deleted')
  const before = (await queries.findConditions.first(tx, { accountId, connectionId })) ?? refuse('not_found')
  const ids = body.runAfter
  const group = body.group?.trim() ?? null
  const kept = before.runAfter.map((one) => one.connectionId)
  const named = await queries.findNamed.all(tx, { accountId, ids })
  const looped = await queries.findLooped.all(tx, { connectionId, ids: ids.filter((id) => id !== connectionId) })
  const isGroup = group === null || (await queries.findGroup.first(tx, { accountId, name: group })) !== undefined
  refuseFieldErrors([
    ...ids.flatMap((id, index) => {
      const field = `body.runAfter.${index}`
      const name = named.find((one) => one.id === id)?.name
      if (id === connectionId) return [{ field, message: 'is this connection: it cannot run after itself' }]
      if (name === undefined)
        // One that was deleted since may stay named.
        return kept.includes(id) ? [] : [{ field, message: 'is not a connection of this sub-account, or is deleted' }]
      if (looped.some((one) => one.id === id)) {
        const message = `${name} runs after this connection, directly or through others: they would wait for each other`
        return [{ field, message }]
      }
      return []
    }),
    ...(isGroup ? [] : [{ field: 'body.group', message: 'is not a group of this sub-account: set the groups first' }]),
  ])
  await queries.putDependencies.run(tx, { connectionId, organizationId: row.organizationId, accountId, ids })
  if (group === null) await queries.deleteGroupOf.run(tx, { connectionId })
  else await queries.putGroupOf.run(tx, { connectionId, accountId, group })
  const after = (await queries.findConditions.first(tx, { accountId, connectionId })) ?? refuse('not_found')
  const [from, to] = [wordsOf(before), wordsOf(after)]
  if (from !== to) await queries.addEvent.run(tx, { connectionId, kind: 'run_conditions', from, to })
  if (before.group !== after.group) await wakeWorkers.run(tx, {})
  return { reply: after, audited: { before: auditedOf(before), after: auditedOf(after) } }
}

/** The conditions as the history has them; null: there are none. */
function wordsOf({ runAfter, group }: RunConditions): string | null {
  const after = runAfter.map(({ name, connectionId }) => name ?? connectionId).join(', ')
  const words = [after && `after ${after}`, group && `group ${group}`].filter(Boolean).join('; ')
  return words === '' ? null : words
}

/** A new state of another connection is no change. */
const auditedOf = ({ runAfter, group }: RunConditions) => ({
  runAfter: runAfter.map(({ connectionId }) => connectionId),
  group,
})
