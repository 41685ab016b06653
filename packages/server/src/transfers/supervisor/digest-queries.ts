import { statement } from '../../db/statement.ts'
import type { Fence } from './queries.ts'

/** Statements of the digests of a connection. The ones that add or replace some name the attempt. */

type OfConnection = { connectionId: string }

const isOwn = `exists (select from transfers where id = :id and attempt = :attempt and status = 'running')`

/** Begins with no digests, under a new key. */
export const beginDigests = statement<Fence & OfConnection & { keySealed: Buffer; scope: string; generation: string }>(`
  insert into connection_states (connection_id, digest_key_sealed, digests_scope, digests_generation, digests_since)
  select :connectionId, :keySealed::bytea, :scope, :generation, now() where ${isOwn}
  on conflict (connection_id) do update set
    digest_key_sealed = excluded.digest_key_sealed, digests_scope = excluded.digests_scope,
    digests_generation = excluded.digests_generation, digests_since = excluded.digests_since
`)

/** Forgets the digests of a connection, and their key. */
export const forgetDigests = statement<OfConnection>(`
  with forgotten as (delete from connection_digests where connection_id = :connectionId)
  update connection_states set
    digest_key_sealed = null, digests_scope = null, digests_generation = null, digests_since = null
  where connection_id = :connectionId
`)

/**
 * Deletes pages of other generations, which were never put in place, and the pages of transfers that ended without success at a
 * destination that may have dropped their rows.
 */
export const deleteLostDigests = statement<OfConnection & { id: string; generation: string }>(`
  delete from connection_digests
  where connection_id = :connectionId and (generation <> :generation or transfer_id <> :id)
`)

export const sizeOfDigests = statement<OfConnection & { generation: string }, { bytes: number }>(`
  select coalesce(sum(octet_length(digests)), 0)::float8 as bytes from connection_digests
  where connection_id = :connectionId and generation = :generation
`)

/** @param kept how many more keys have a digest with them */
export const addDigests = statement<
  Fence & OfConnection & { generation: string; kept: number; transferId: string | null; digests: Buffer }
>(`
  insert into connection_digests (connection_id, generation, number, kept, transfer_id, digests)
  select :connectionId, :generation, coalesce(max(number), 0) + 1, :kept::integer, :transferId, :digests::bytea
  from connection_digests where connection_id = :connectionId and generation = :generation
  having ${isOwn}
`)

export const readDigests = statement<
  OfConnection & { generation: string; after: number; limit: number; bytes: number },
  { number: number; digests: Buffer }
>(`
  select number, digests from (
    select number, digests, sum(octet_length(digests)) over (order by number) - octet_length(digests) as bytes_before
    from connection_digests
    where connection_id = :connectionId and generation = :generation and number > :after
    order by number limit :limit
  ) page
  where bytes_before < :bytes::bigint order by number
`)

/** Puts another generation in place. */
export const useGeneration = statement<Fence & OfConnection & { generation: string }>(`
  update connection_states set digests_generation = :generation where connection_id = :connectionId and ${isOwn}
`)

/** The transfer succeeded: what it delivered stays. */
export const settleDigests = statement<OfConnection & { id: string }>(`
  update connection_digests set transfer_id = null where connection_id = :connectionId and transfer_id = :id
`)
