import { statement } from '../db/statement.ts'

/** Statements that link queued events into the chains, and seal where these end. */

/** Where a chain ends, and how many events were linked to it just now. */
export type LinkedHead = {
  organizationId: string
  number: number
  hash: string
  linked: number
  lastId: number
  /** Whether the log was sealed up to its end before. A log that begins is. */
  isSealed: boolean
  sealedNumber: number | null
  sealedHash: string | null
  seal: string | null
}

/**
 * Links the oldest `most` events whose identifiers are above `since`. One transaction at a time does this: with `waits`,
 * another one waits for it, and otherwise links nothing.
 */
export const linkEvents = statement<{ most: number; since: number; waits: boolean }, LinkedHead>(`
  select organization_id, number, encode(hash, 'hex') as hash, linked, last_id, is_sealed, sealed_number,
    encode(sealed_hash, 'hex') as sealed_hash, encode(seal, 'hex') as seal
  from link_audit_events(:most, :since, :waits)
`)

/** Whether events of an organization, or of any if it is null, wait to be linked. */
export const findWaiting = statement<{ organizationId: string | null }, { id: number }>(`
  select id from audit_queue where :organizationId::text is null or organization_id = :organizationId limit 1
`)

/** How many events of each organization wait, and since when. */
export const countWaiting = statement<
  { organizationId: string | null },
  { organizationId: string; waiting: number; seconds: number }
>(`
  select organization_id, count(*) as waiting,
    greatest(0, extract(epoch from clock_timestamp() - min(time)))::float8 as seconds
  from audit_queue where :organizationId::text is null or organization_id = :organizationId
  group by 1 order by 1
`)

export const saveSeals = statement<{
  organizationIds: readonly string[]
  numbers: readonly number[]
  hashes: readonly string[]
  seals: readonly string[]
}>(`
  update audit_heads h set sealed_number = s.number, sealed_hash = decode(s.hash, 'hex'), seal = decode(s.seal, 'hex')
  from rows from (unnest(:organizationIds::text[]), unnest(:numbers::bigint[]), unnest(:hashes::text[]),
    unnest(:seals::text[])) as s (organization_id, number, hash, seal)
  where h.organization_id = s.organization_id
`)

/**
 * The last event of a log, and the event that its seal covers. The two differ after a process of an earlier version, which does
 * not seal.
 */
export type UnsealedHead = {
  organizationId: string
  number: number
  hash: string
  sealedNumber: number | null
  sealedHash: string | null
  seal: string | null
}
/** Logs that continue after their seal, held until the transaction ends. */
export const lockUnsealedHeads = statement<{ limit: number }, UnsealedHead>(`
  select organization_id, number, encode(hash, 'hex') as hash, sealed_number,
    encode(sealed_hash, 'hex') as sealed_hash, encode(seal, 'hex') as seal
  from audit_heads where number > 0 and sealed_number is distinct from number
  order by organization_id limit :limit for no key update skip locked
`)
