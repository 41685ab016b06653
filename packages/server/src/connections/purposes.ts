import { type FieldError, limits, type Purpose } from '@penstock/wire'
import type { ActingAccount, Answer, Call } from '../call.ts'
import type { Db, Transaction } from '../db/database.ts'
import { refuseFieldErrors } from '../refusal.ts'
import * as queries from './purpose-queries.ts'

/** Purposes for which people give consent. A connection requires some of them: records without consent are not sent. */

export async function listPurposes({
  db,
  actor: { organizationId, accountIds },
  account,
  query: { size, offset },
}: Call<'listPurposes'>): Promise<Answer<'listPurposes'>> {
  const scope = { organizationId, accountId: account?.id ?? null, accountIds }
  const [reply, count] = await Promise.all([
    queries.listPurposes.all(db, { ...scope, size, offset }),
    queries.countPurposes.first(db, scope),
  ])
  return { reply, total: count?.total ?? 0 }
}

/** Replaces all purposes. Refuses to remove one that connections require, and keys that do not belong to the kind of a signal. */
export async function setPurposes({ db: tx, account, body }: Call<'setPurposes'>): Promise<Answer<'setPurposes'>> {
  const accountId = account.id
  await queries.lockPurposes.run(tx, { accountId })
  const before = await allOf(tx, account)
  const purposes = body.purposes.map(({ name, signals, uses = [] }) => ({ name: name.trim(), signals, uses }))
  const names = purposes.map(({ name }) => name)
  refuseFieldErrors([
    ...names.flatMap((name, index) => nameErrors(name, names.indexOf(name) < index, `body.purposes.${index}.name`)),
    ...purposes.flatMap(({ signals }, at) =>
      signals.flatMap((signal, index) => signalErrors(signal, `body.purposes.${at}.signals.${index}`)),
    ),
    ...before
      .filter(({ name, connections }) => connections > 0 && !names.includes(name))
      .map(({ name, connections }) => ({
        field: 'body.purposes',
        message: `lacks ${name}, which ${connections === 1 ? '1 connection requires' : `${connections} connections require`}: change their setting purposes first`,
      })),
  ])
  await queries.deleteOtherPurposes.run(tx, { accountId, names })
  await queries.putPurposes.run(tx, { accountId, purposes: JSON.stringify(purposes) })
  const after = await allOf(tx, account)
  return { reply: { purposes: after }, audited: { before: auditedOf(before), after: auditedOf(after) } }
}

/**
 * Finds the errors of the consent settings of a connection, which keep it from being activated.
 * @param destConfig the settings of its destination
 */
export async function purposeErrors(
  tx: Transaction,
  accountId: string,
  destConfig: Readonly<Record<string, unknown>>,
): Promise<FieldError[]> {
  const found = await queries.findRequired.first(tx, { accountId, destConfig: JSON.stringify(destConfig) })
  const { names = [], required = [] } = found ?? {}
  const field = 'destConnectionConfig.purposes'
  if (names.length > 0 && String(destConfig.purposes ?? '').trim() === '') {
    return [{ field, message: `is required: enter the purposes that a record needs (${names.join(', ')}), or none` }]
  }
  const unknown = required.filter((name) => !names.includes(name))
  if (unknown.length === 0) return []
  const known = names.length > 0 ? `it has ${names.join(', ')}` : 'it has none'
  return [{ field, message: `names ${unknown.join(', ')}, which is no purpose of the sub-account: ${known}` }]
}

/** The purposes of a sub-account, as a preview uses them. `null` if it has no purposes. */
export async function purposesOf(db: Db, accountId: string): Promise<queries.StoredPurpose[] | null> {
  const purposes = await queries.findPurposes.all(db, { accountId })
  return purposes.length > 0 ? purposes : null
}

const allOf = (db: Db, { id: accountId, organizationId }: ActingAccount): Promise<Purpose[]> =>
  queries.listPurposes.all(db, { organizationId, accountId, accountIds: null, size: limits.purposesMax, offset: 0 })

const auditedOf = (purposes: readonly Purpose[]) =>
  Object.fromEntries(purposes.map(({ name, signals, uses }) => [name, JSON.stringify({ signals, uses })]))

function nameErrors(name: string, isTwice: boolean, field: string): FieldError[] {
  if (isTwice) return [{ field, message: 'is the name of two purposes' }]
  if (name.includes(',')) return [{ field, message: 'must not contain a comma: connections list purposes with commas' }]
  if (name.toLowerCase() === 'none') return [{ field, message: 'must not be none, which stands for no purpose' }]
  return []
}

type Signal = Purpose['signals'][number]

/** The keys of each kind of signal, besides the column, and whether it needs one of them. */
const keysOf: Readonly<
  Record<Signal['kind'], { readonly allowed: readonly (keyof Signal)[]; readonly needed?: keyof Signal }>
> = {
  values: { allowed: ['values'], needed: 'values' },
  tcf: { allowed: ['purposes', 'vendor'], needed: 'purposes' },
  gpp: { allowed: ['optOuts'] },
  usPrivacy: { allowed: [] },
}

function signalErrors(signal: Signal, field: string): FieldError[] {
  const { allowed, needed } = keysOf[signal.kind]
  const surplus = (['values', 'purposes', 'vendor', 'optOuts'] as const).filter(
    (key) => signal[key] !== undefined && !allowed.includes(key),
  )
  return [
    ...(needed && signal[needed] === undefined
      ? [{ field: `${field}.${needed}`, message: `is required for the kind ${signal.kind}` }]
      : []),
    ...surplus.map((key) => ({ field: `${field}.${key}`, message: `does not belong to the kind ${signal.kind}` })),
  ]
}
