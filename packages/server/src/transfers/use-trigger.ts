import { createHmac, timingSafeEqual } from 'node:crypto'
import { limits, type Transfer } from '@penstock/wire'
import { record } from '../audit/record.ts'
import type { Actor } from '../call.ts'
import type { Config } from '../config.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import type { ShareOf } from '../db/shares.ts'
import { refuse } from '../refusal.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { unseal } from '../secrets/seal.ts'
import { type Attempts, createRequestLimit } from '../tokens/attempts.ts'
import { holdRunnable } from './queries.ts'
import { begin, requireIntegrated } from './transfers.ts'
import * as queries from './trigger-queries.ts'
import { digestOfTrigger, placeOfSigningSecret } from './triggers.ts'

/** Requests to the addresses of triggers. */

/** A request to the address of a trigger, as it was received. */
export type TriggerRequest = {
  readonly id: string
  readonly secret: string
  readonly body: Buffer
  /** The header Authorization, in which dbt Cloud sends its signature. */
  readonly authorization: string | undefined
  readonly idempotencyKey: string | undefined
  readonly address: string
  readonly requestId: string
}

/** The result: the transfer that was started or is active, or why the request starts none. */
export type TriggerResult = { readonly transfer: Transfer } | { readonly ignored: string }

/** Does work once for a key, as operations do it. */
type Once = <A>(tx: Db, actor: Actor, key: string, request: readonly unknown[], work: () => Promise<A>) => Promise<A>

type TriggerDeps = {
  readonly config: Config
  readonly database: Database
  readonly shareOf: ShareOf
  readonly keyring: Keyring
  readonly catalogue: Catalogue
  readonly attempts: Attempts
  readonly once: Once
}

/**
 * Answers requests to triggers. Unknown triggers and wrong secrets are refused alike with `not_found`, wrong signatures with
 * `unauthorized`, too many requests with `rate_limited`, and a connection that cannot run as by Start Transfer.
 */
export function createTriggerUse(deps: TriggerDeps): (request: TriggerRequest) => Promise<TriggerResult> {
  const { database, shareOf, attempts, once } = deps
  const limit = createRequestLimit(limits.triggerRequestsPerMinute)
  return async (request) => {
    const { id, secret, address } = request
    const pair = `trigger ${id}`
    await attempts.check(pair, address)
    const trigger = await queries.findTrigger.first(database, { id })
    if (!trigger || !timingSafeEqual(trigger.secretDigest, digestOfTrigger(secret))) {
      await attempts.failed(pair, address)
      return refuse('not_found')
    }
    limit(id)
    const signing = await signingSecretOf(trigger, deps)
    if (signing !== undefined && !isSigned(request, signing)) {
      await attempts.failed(pair, address)
      return refuse('unauthorized', [{ field: 'header.authorization', message: 'is not the signature of dbt Cloud' }])
    }
    const event = signing === undefined ? undefined : readDbtEvent(request.body)
    if (event?.ignored !== undefined) return { ignored: event.ignored }
    const key = event?.id ?? request.idempotencyKey
    const actor = actorOf(trigger)
    return shareOf(database, actor.organizationId).transaction(async (tx) => {
      const work = () => start(tx, trigger, request, deps)
      const transfer = await (key === undefined ? work() : once(tx, actor, key, ['trigger', id], work))
      return { transfer }
    }, actor)
  }
}

async function signingSecretOf(
  { id, dataKeyId, signingSecretSealed }: queries.UsedTriggerRow,
  { database, keyring }: TriggerDeps,
): Promise<string | undefined> {
  if (dataKeyId === null || signingSecretSealed === null) return undefined
  const key = await openDataKey(database, keyring, dataKeyId)
  if (!key) throw new Error(`The data key ${dataKeyId} is gone`)
  return unseal(key, placeOfSigningSecret(id), signingSecretSealed).toString('utf8')
}

/** dbt Cloud sends the HMAC-SHA256 of the body under the secret of its webhook, in hexadecimal, as the header Authorization. */
function isSigned({ body, authorization = '' }: TriggerRequest, secret: string): boolean {
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const given = Buffer.from(authorization)
  return given.length === signature.length && timingSafeEqual(given, Buffer.from(signature))
}

/** `runStatusCode` of a run that succeeded. */
const dbtSuccess = 10

/** Reads an event of dbt Cloud. The identifier is the same in every retry. */
function readDbtEvent(body: Buffer): { id: string | undefined; ignored?: string } {
  let event: { eventType?: unknown; eventId?: unknown; data?: { runStatusCode?: unknown; runStatus?: unknown } | null }
  try {
    event = JSON.parse(body.toString('utf8')) ?? {}
  } catch {
    return refuse('invalid_request', [{ field: 'body', message: 'cannot be read as JSON' }])
  }
  const { eventType, eventId, data } = event
  const id = typeof eventId === 'string' && /^[\x21-\x7e]{1,100}$/.test(eventId) ? `dbt ${eventId}` : undefined
  if (eventType !== 'job.run.completed') return { id, ignored: 'Only the event job.run.completed starts a transfer.' }
  if (data?.runStatusCode !== dbtSuccess && data?.runStatus !== 'Success')
    return { id, ignored: 'The run of dbt did not succeed.' }
  return { id }
}

/** The trigger, as the actor of what it starts. Its idempotency keys are its own. */
const actorOf = ({ id, name, organizationId, accountId }: queries.UsedTriggerRow): Actor => ({
  kind: 'link',
  id,
  name,
  organizationId,
  scopes: ['transfers:run'],
  accountIds: [accountId],
})

async function start(
  tx: Transaction,
  { id, name, organizationId, accountId, connectionId }: queries.UsedTriggerRow,
  { address, requestId }: TriggerRequest,
  deps: TriggerDeps,
): Promise<Transfer> {
  const row = (await holdRunnable.first(tx, { accountId, id: connectionId })) ?? refuse('not_found')
  if (!(await queries.useTrigger.first(tx, { id }))) refuse('not_found')
  requireIntegrated(deps.catalogue, row)
  const { reply, already } = await begin(tx, row, { trigger: 'url' }, deps)
  const entry = { organizationId, action: 'startTransfer', accountId, targetId: connectionId, address, requestId }
  if (!already) record(tx, { ...entry, actor: { kind: 'link', id, name }, after: reply })
  return reply
}
