import { statement } from '../../db/statement.ts'
import type { Fence } from './queries.ts'

/** Statements of the digests of a connection. The ones that add or replace some name the attempt. */

type OfConnection = { connectionId: string }

const isOwn = `exists (select from transfers where id = :id and attempt = :attempt and status = 'running')`

/** Begins with no digests, under a new key. */
export const beginDigests = statement<
  Fence & OfConnection & { keySealed: Buffer; scope: string; salt: string; generation: string }
>(`
  insert into connection_states
    (connection_id, digest_key_sealed, digests_scope, digests_salt, digests_generation, digests_since)
  select :connectionId, :keySealed::bytea, :scope, :salt, :generation, now() where ${isOwn}
  on conflict (connection_id) do update set
    digest_key_sealed = excluded.digest_key_sealed, digests_scope = excluded.digests_scope, digests_salt = excluded.digests_salt,
    digests_generation = excluded.digests_generation, digests_since = excluded.digests_since
`)

/** Forgets the digests of a connection, and their key. */
export const forgetDigests = statement<OfConnection>(`
  with forgotten as (delete from connection_digests where connection_id = :connectionId)
  update connection_states set
    digest_key_sealed = null, digests_scope = null, digests_salt = null, digests_generation = null, digests_since = null
  where connection_id = :connectionId
`)

/** Makes every row of a mirror another one, so that all are sent, and keeps their keys. */
export const saltDigests = statement<OfConnection & { salt: string }>(`
  update connection_states s set digests_salt = :salt, digests_since = now()
  where s.connection_id = :connectionId and exists (
    select from connection_digests d
    where d.connection_id = s.connection_id and d.generation = s.digests_generation and d.keys_sealed is not null
  )
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
  Fence &
    OfConnection & {
      generation: string
      kept: number
      transferId: string | null
      digests: Buffer
      keysSealed: Buffer | null
    }
>(`
  insert into connection_digests (connection_id, generation, number, kept, transfer_id, digests, keys_sealed)
  select :connectionId, :generation, coalesce(max(number), 0) + 1, :kept::integer, :transferId, :digests::bytea, :keysSealed::bytea
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

/** Pages that have keys. */
export const readKeys = statement<
  OfConnection & { generation: string; after: number; limit: number; bytes: number },
  { number: number; digests: Buffer; keysSealed: Buffer }
>(`
  select number, digests, coalesce(keys_sealed, '') as keys_sealed from (
    select number, digests, keys_sealed,
      sum(octet_length(digests) + octet_length(keys_sealed)) over (order by number)
        - octet_length(digests) - octet_length(keys_sealed) as bytes_before
    from connection_digests
    where connection_id = :connectionId and generation = :generation and number > :after and keys_sealed is not null
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
