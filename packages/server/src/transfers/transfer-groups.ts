import { limits, type TransferGroup } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { allOf, pageOf, setErrors } from '../connections/named-sets.ts'
import { refuseFieldErrors } from '../refusal.ts'
import { wakeWorkers } from './queries.ts'
import * as queries from './run-conditions-queries.ts'

/** Groups of connections whose transfers share a limit. Claims keep it (`supervisor/claim-queries.ts`). */

export const listTransferGroups = (call: Call<'listTransferGroups'>): Promise<Answer<'listTransferGroups'>> =>
  pageOf(call, queries.listGroups, queries.countGroups)

/** Replaces all groups. Refuses to remove one that has connections, and a name that occurs twice. */
export async function setTransferGroups({
  db: tx,
  account,
  body,
}: Call<'setTransferGroups'>): Promise<Answer<'setTransferGroups'>> {
  const accountId = account.id
  await queries.lockConditions.run(tx, { accountId })
  const before = await allOf(tx, account, queries.listGroups, limits.transferGroupsMax)
  const names = body.groups.map(({ name }) => name.trim())
  refuseFieldErrors(
    setErrors(
      names,
      before,
      'groups',
      (n) => `is the group of ${n} ${n === 1 ? 'connection' : 'connections'}: take them out of it first`,
    ),
  )
  await queries.deleteOtherGroups.run(tx, { accountId, names })
  await queries.putGroups.run(tx, { accountId, names, limits: body.groups.map(({ transfersMax }) => transfersMax) })
  await wakeWorkers.run(tx, {})
  const after = await allOf(tx, account, queries.listGroups, limits.transferGroupsMax)
  return { reply: { groups: after }, audited: { before: auditedOf(before), after: auditedOf(after) } }
}

const auditedOf = (groups: readonly TransferGroup[]) =>
  Object.fromEntries(groups.map(({ name, transfersMax }) => [name, transfersMax]))
