import { limits, type TransferGroup } from '@penstock/wire'
import type { ActingAccount, Answer, Call } from '../call.ts'
import type { Db } from '../db/database.ts'
import { refuseFieldErrors } from '../refusal.ts'
import { wakeWorkers } from './queries.ts'
import * as queries from './run-conditions-queries.ts'

/** Groups of connections whose transfers share a limit. Claims keep it (`supervisor/claim-queries.ts`). */

export async function listTransferGroups({
  db,
  actor: { organizationId, accountIds },
  account,
  query: { size, offset },
}: Call<'listTransferGroups'>): Promise<Answer<'listTransferGroups'>> {
  const scope = { organizationId, accountId: account?.id ?? null, accountIds }
  const [reply, count] = await Promise.all([
    queries.listGroups.all(db, { ...scope, size, offset }),
    queries.countGroups.first(db, scope),
  ])
  return { reply, total: count?.total ?? 0 }
}

/** Replaces all groups. Refuses to remove one that has connections, and a name that occurs twice. */
export async function setTransferGroups({
  db: tx,
  account,
  body,
}: Call<'setTransferGroups'>): Promise<Answer<'setTransferGroups'>> {
  const accountId = account.id
  await queries.lockConditions.run(tx, { accountId })
  const before = await allOf(tx, account)
  const names = body.groups.map(({ name }) => name.trim())
  refuseFieldErrors([
    ...names.flatMap((name, index) =>
      names.indexOf(name) < index ? [{ field: `body.groups.${index}.name`, message: 'is the name of two groups' }] : [],
    ),
    ...before
      .filter(({ name, connections }) => connections > 0 && !names.includes(name))
      .map(({ name, connections }) => ({
        field: 'body.groups',
        message: `lacks ${name}, which is the group of ${connections} ${connections === 1 ? 'connection' : 'connections'}: take them out of it first`,
      })),
  ])
  await queries.deleteOtherGroups.run(tx, { accountId, names })
  await queries.putGroups.run(tx, { accountId, names, limits: body.groups.map(({ transfersMax }) => transfersMax) })
  await wakeWorkers.run(tx, {})
  const after = await allOf(tx, account)
  return { reply: { groups: after }, audited: { before: auditedOf(before), after: auditedOf(after) } }
}

const allOf = (db: Db, { id: accountId, organizationId }: ActingAccount): Promise<TransferGroup[]> =>
  queries.listGroups.all(db, { organizationId, accountId, accountIds: null, size: limits.transferGroupsMax, offset: 0 })

const auditedOf = (groups: readonly TransferGroup[]) =>
  Object.fromEntries(groups.map(({ name, transfersMax }) => [name, transfersMax]))
