import { type FieldError, limits, type Purpose } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import type { Db, Transaction } from '../db/database.ts'
import { refuseFieldErrors } from '../refusal.ts'
import { allOf, pageOf, setErrors } from './named-sets.ts'
import * as queries from './purpose-queries.ts'

/** Purposes for which people give consent. A connection requires some of them: records without consent are not sent. */

export const listPurposes = (call: Call<'listPurposes'>): Promise<Answer<'listPurposes'>> =>
  pageOf(call, queries.listPurposes, queries.countPurposes)

/** Replaces all purposes. Refuses to remove one that connections require, and keys that do not belong to the kind of a signal. */
export async function setPurposes({ db: tx, account, body }: Call<'setPurposes'>): Promise<Answer<'setPurposes'>> {
  const accountId = account.id
  await queries.lockPurposes.run(tx, { accountId })
  const before = await allOf(tx, account, queries.listPurposes, limits.purposesMax)
  const purposes = body.purposes.map(({ name, signals, uses = [] }) => ({ name: name.trim(), signals, uses }))
  const names = purposes.map(({ name }) => name)
  refuseFieldErrors([
    ...names.flatMap((name, index) => nameErrors(name, `body.purposes.${index}.name`)),
    ...purposes.flatMap(({ signals }, at) =>
      signals.flatMap((signal, index) => signalErrors(signal, `body.purposes.${at}.signals.${index}`)),
    ),
    ...setErrors(
      names,
      before,
      'purposes',
      (n) => `${n === 1 ? '1 connection requires' : `${n} connections require`}: change their setting purposes first`,
    ),
  ])
  await queries.deleteOtherPurposes.run(tx, { accountId, names })
  await queries.putPurposes.run(tx, { accountId, purposes: JSON.stringify(purposes) })
  const after = await allOf(tx, account, queries.listPurposes, limits.purposesMax)
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

const auditedOf = (purposes: readonly Purpose[]) =>
  Object.fromEntries(purposes.map(({ name, signals, uses }) => [name, JSON.stringify({ signals, uses })]))

function nameErrors(name: string, field: string): FieldError[] {
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
