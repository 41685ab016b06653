import { hash, randomBytes } from 'node:crypto'
import { limits, type StartTrigger } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse, requireEditable } from '../refusal.ts'
import { makeDataKey } from '../secrets/data-keys.ts'
import { seal } from '../secrets/seal.ts'
import { unixSeconds } from '../time.ts'
import { holdRunnable } from './queries.ts'
import { requireConnection, type TransferDeps } from './transfers.ts'
import * as queries from './trigger-queries.ts'

/** Triggers of connections. Requests to their addresses are answered in `use-trigger.ts`. */

/** The prefix identifies the kind of secret, also for scanners that search for leaked secrets. */
const prefix = 'pst_'

/** SHA-256 of a secret, which alone is stored. */
export const digestOfTrigger = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** Place that the signing secret of a trigger is bound to. */
export const placeOfSigningSecret = (triggerId: string) => ['trigger', triggerId]

/** Answers 404 if there is no such connection. */
export async function listTriggers({
  db,
  account,
  id: connectionId,
  query: { size, offset },
}: Call<'listTriggers'>): Promise<Answer<'listTriggers'>> {
  await requireConnection(db, account, connectionId)
  const [rows, count] = await Promise.all([
    queries.listTriggers.all(db, { connectionId, size, offset }),
    queries.countTriggers.first(db, { connectionId }),
  ])
  return { reply: rows.map(viewTrigger), total: count?.total ?? 0 }
}

/** Creates a trigger with a secret of 256 random bits, and seals the secret that signs its requests, if it has one. */
export async function createTrigger(
  { db: tx, account, id: connectionId, body }: Call<'createTrigger'>,
  deps: TransferDeps,
): Promise<Answer<'createTrigger'>> {
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  requireEditable(row, deps)
  if (row.status === 'deleted') refuse('connection_deleted')
  if (((await queries.countTriggers.first(tx, { connectionId }))?.total ?? 0) >= limits.triggersMax) {
    const message = `at most ${limits.triggersMax} triggers of a connection: delete triggers that are not needed`
    refuse('quota_exceeded', [{ field: 'id', message }])
  }
  const id = newIdentifier()
  const secret = prefix + randomBytes(32).toString('base64url')
  const signing = body.dbtCloudSecret
  const dataKey = signing === undefined ? undefined : await makeDataKey(tx, deps.keyring)
  const inserted = await queries.insertTrigger.first(tx, {
    id,
    organizationId: row.organizationId,
    accountId: row.accountId,
    connectionId,
    name: body.name.trim(),
    secretDigest: digestOfTrigger(secret),
    dataKeyId: dataKey?.id ?? null,
    signingSecretSealed: dataKey ? seal(dataKey.key, placeOfSigningSecret(id), signing ?? '') : null,
  })
  if (!inserted) throw new Error(`The trigger ${id} was not saved`)
  const view = viewTrigger(inserted)
  return { reply: { ...view, url: `${deps.config.publicUrl}/trigger/${id}/${secret}` }, audited: { after: view } }
}

export async function deleteTrigger({ db: tx, account, id }: Call<'deleteTrigger'>): Promise<Answer<'deleteTrigger'>> {
  const reply = viewTrigger(
    (await queries.deleteTrigger.first(tx, { accountId: account.id, id })) ?? refuse('not_found'),
  )
  return { reply, audited: { before: reply, after: null } }
}

const viewTrigger = ({ createdTime, lastUsedTime, ...row }: queries.TriggerRow): StartTrigger => ({
  id: row.id,
  connectionId: row.connectionId,
  name: row.name,
  signed: row.signed,
  createdTime: unixSeconds(createdTime),
  lastUsedTime: lastUsedTime && unixSeconds(lastUsedTime),
})
