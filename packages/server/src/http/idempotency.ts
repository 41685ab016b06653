import { createHash } from 'node:crypto'
import { limits } from '@penstock/wire'
import type { Actor } from '../call.ts'
import type { Db } from '../db/database.ts'
import { statement } from '../db/statement.ts'
import { refuse } from '../refusal.ts'

/**
 * Idempotency keys: retries do not do the work again. The key is stored in the transaction of the work itself, so that neither
 * can exist without the other. Of two concurrent requests, the second waits for the first and gets its answer. A refused
 * request stores no key, because nothing was done and a retry can succeed.
 */
const takeKey = statement<{ organizationId: string; key: string; requestDigest: Buffer; windowHours: number }>(`
  insert into idempotency_keys (organization_id, key, request_digest)
  values (:organizationId, :key, :requestDigest)
  on conflict (organization_id, key) do update
    set request_digest = excluded.request_digest, answer = null, created_time = now()
    where idempotency_keys.created_time < now() - make_interval(hours => :windowHours)
`)

const findKey = statement<{ organizationId: string; key: string }, { requestDigest: Buffer; answer: unknown }>(`
  select request_digest, answer from idempotency_keys where organization_id = :organizationId and key = :key
`)

const keepAnswer = statement<{ organizationId: string; key: string; answer: string }>(`
  update idempotency_keys set answer = :answer where organization_id = :organizationId and key = :key
`)

export const deleteOldKeys = statement<{ windowHours: number; limit: number }>(`
  delete from idempotency_keys where (organization_id, key) in (
    select organization_id, key from idempotency_keys
    where created_time < now() - make_interval(hours => :windowHours) limit :limit
  )
`)

const keyPattern = new RegExp(`^[\\x20-\\x7e]{1,${limits.idempotencyKeyLengthMax}}$`)

/** Reads the header. Refuses one that is empty, too long, or not visible ASCII. */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || keyPattern.test(header)) return header
  refuse('invalid_request', [
    {
      field: 'header.idempotency-key',
      message: `must be 1 to ${limits.idempotencyKeyLengthMax} visible ASCII characters`,
    },
  ])
}

/**
 * The key in the form in which it is stored. Credentials without limits share the keys of the organization. Limited credentials
 * have their own keys, so that they never receive the response of another credential. A key that a client sends contains no
 * line feed.
 */
const keyOf = ({ scopes, accountIds, id }: Actor, key: string): string =>
  scopes === null && accountIds === null ? key : `${id}\n${key}`

/**
 * Does `work` once for a key: the first time it runs and its answer is kept, within the window that answer is given again.
 * Refuses with `idempotency_key_reused` where the key came with another request.
 * @param request everything that makes two requests the same
 */
export async function once<A>(
  tx: Db,
  actor: Actor,
  givenKey: string,
  request: readonly unknown[],
  work: () => Promise<A>,
): Promise<A> {
  const { organizationId } = actor
  const key = keyOf(actor, givenKey)
  const requestDigest = createHash('sha256').update(JSON.stringify(request)).digest()
  const windowHours = limits.idempotencyWindowHours
  const taken = await takeKey.run(tx, { organizationId, key, requestDigest, windowHours })
  if (taken === 0) {
    const first = await findKey.first(tx, { organizationId, key })
    if (!first?.requestDigest.equals(requestDigest)) refuse('idempotency_key_reused')
    return first.answer as A
  }
  const answer = await work()
  await keepAnswer.run(tx, { organizationId, key, answer: JSON.stringify(answer) })
  return answer
}
