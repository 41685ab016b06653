import type { Upload } from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import type { UploadRow } from './queries.ts'

/** An uploaded file as the contract shows it. */
export const viewUpload = (row: UploadRow): Upload => ({
  id: row.id,
  accountId: row.accountId,
  name: row.name,
  sizeBytes: row.sizeBytes,
  createdTime: unixSeconds(row.createdTime),
  expiresTime: unixSeconds(row.expiresTime),
})
