import type { ActingAccount, Answer, Call } from '../call.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import { deleteDataKeys } from '../secrets/queries.ts'
import * as queries from './queries.ts'
import { viewUpload } from './view.ts'

/** Files that people upload, as a source of connections. Only jobs read their content (`content.ts`). */

/** Dependencies of the handlers of uploads. */
export type UploadDeps = { readonly config: Config }

export async function listUploads({
  db,
  account,
  query: { size, offset },
}: Call<'listUploads'>): Promise<Answer<'listUploads'>> {
  const [rows, count] = await Promise.all([
    queries.listUploads.all(db, { accountId: account.id, size, offset }),
    queries.countUploads.first(db, { accountId: account.id }),
  ])
  return { reply: rows.map(viewUpload), total: count?.total ?? 0 }
}

/** Completes a file whose content was received. Refuses with `request_timeout` if that took so long that it was purged. */
export async function createUpload(
  { db: tx, account, query: { name }, body: { id, sizeBytes, chunks } }: Call<'createUpload'>,
  { config }: UploadDeps,
): Promise<Answer<'createUpload'>> {
  const { hours } = config.uploads
  const file = { id, accountId: account.id, name: name.trim(), sizeBytes, chunks, hours }
  const row = (await queries.completeUpload.first(tx, file)) ?? refuse('request_timeout')
  return { reply: viewUpload(row) }
}

export async function getUpload({ db, account, id }: Call<'getUpload'>): Promise<Answer<'getUpload'>> {
  return { reply: viewUpload(await requireUpload(db, account, id)) }
}

/** A file that the sub-account has. Refuses with `not_found`. */
export async function requireUpload(db: Db, account: ActingAccount, id: string): Promise<queries.UploadRow> {
  return (await queries.findUpload.first(db, { accountId: account.id, id })) ?? refuse('not_found')
}

/** Deletes a file with its content and its key, which makes the content unreadable in every copy of the database as well. */
export async function deleteUpload({ db: tx, account, id }: Call<'deleteUpload'>): Promise<Answer<'deleteUpload'>> {
  const row = (await queries.deleteUpload.first(tx, { accountId: account.id, id })) ?? refuse('not_found')
  await deleteDataKeys.run(tx, { ids: [row.dataKeyId] })
  return { reply: { done: true }, audited: { before: viewUpload(row), after: null } }
}
