import { statement } from '../db/statement.ts'

/** An uploaded file that is complete. */
export type UploadRow = {
  id: string
  organizationId: string
  accountId: string
  name: string
  sizeBytes: number
  createdTime: Date
  expiresTime: Date
}
const columns = 'id, organization_id, account_id, name, size_bytes, created_time, expires_time'

/** A file is there once all of it was received, until it expires. */
const visible = 'account_id = :accountId and chunks is not null and expires_time > now()'

/** Uploads of one sub-account begin one after another, so that each counts those before it. */
export const lockAccount = statement<{ accountId: string }, { id: string }>(`
  select id from accounts where id = :accountId for no key update
`)

/** How much a sub-account has stored, or is about to store. */
export const countStored = statement<{ accountId: string }, { files: number; bytes: number }>(`
  select count(*) as files, coalesce(sum(size_bytes), 0)::bigint as bytes from uploads
  where account_id = :accountId and expires_time > now()
`)

/** Begins an upload. Its size is the maximum that it can reach, and it is not visible. */
export const insertUpload = statement<{
  id: string
  organizationId: string
  accountId: string
  sizeBytes: number
  dataKeyId: string
  minutes: number
}>(`
  insert into uploads (id, organization_id, account_id, name, size_bytes, data_key_id, expires_time)
  values (:id, :organizationId, :accountId, '', :sizeBytes, :dataKeyId, now() + make_interval(mins => :minutes))
`)

/** Stores a piece of an upload that has begun and not ended. */
export const insertChunk = statement<{ uploadId: string; number: number; sealed: Buffer }>(`
  insert into upload_chunks (upload_id, number, sealed)
  select id, :number, :sealed from uploads where id = :uploadId and chunks is null and expires_time > now()
`)

/** Makes a file visible, all of which was received. No row if it was purged in the meantime. */
export const completeUpload = statement<
  { id: string; accountId: string; name: string; sizeBytes: number; chunks: number; hours: number },
  UploadRow
>(`
  update uploads set name = :name, size_bytes = :sizeBytes, chunks = :chunks, created_time = now(),
    expires_time = now() + make_interval(hours => :hours)
  where id = :id and account_id = :accountId and chunks is null and expires_time > now()
  returning ${columns}
`)

/** Deletes an upload that did not complete, with its content. */
export const discardUpload = statement<{ id: string }, { dataKeyId: string }>(`
  delete from uploads where id = :id and chunks is null returning data_key_id
`)

export const listUploads = statement<{ accountId: string; size: number; offset: number }, UploadRow>(`
  select ${columns} from uploads where ${visible} order by created_time desc, id desc limit :size offset :offset
`)
export const countUploads = statement<{ accountId: string }, { total: number }>(`
  select count(*) as total from uploads where ${visible}
`)
export const findUpload = statement<{ accountId: string; id: string }, UploadRow>(`
  select ${columns} from uploads where id = :id and ${visible}
`)
export const deleteUpload = statement<{ accountId: string; id: string }, UploadRow & { dataKeyId: string }>(`
  delete from uploads where id = :id and ${visible} returning ${columns}, data_key_id
`)

/** Files whose names contain a text, to choose one from. */
export const searchUploads = statement<
  { accountId: string; like: string | null; size: number; offset: number },
  UploadRow
>(`
  select ${columns} from uploads where ${visible} and (:like::text is null or name ilike :like)
  order by created_time desc, id desc limit :size offset :offset
`)

/** Finds the properties that a job needs to read a file. */
export const findContent = statement<
  { accountId: string; id: string },
  { name: string; sizeBytes: number; chunks: number; dataKeyId: string }
>(`
  select name, size_bytes, coalesce(chunks, 0) as chunks, data_key_id from uploads where id = :id and ${visible}
`)
/** A piece of a file, while the file is there. */
export const findChunk = statement<{ accountId: string; id: string; number: number }, { sealed: Buffer }>(`
  select c.sealed from uploads u join upload_chunks c on c.upload_id = u.id and c.number = :number
  where u.id = :id and u.account_id = :accountId and u.chunks is not null and u.expires_time > now()
`)

/** Files that have expired, and what interrupted uploads left. Their content goes with them. */
export const purgeUploads = statement<
  { limit: number },
  { id: string; organizationId: string; accountId: string; name: string; dataKeyId: string; complete: boolean }
>(`
  delete from uploads where id in (select id from uploads where expires_time <= now() limit :limit for update skip locked)
  returning id, organization_id, account_id, name, data_key_id, chunks is not null as complete
`)
