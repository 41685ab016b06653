import { operations, type Transfer } from '@penstock/wire'
import { download } from '../../api/download.ts'
import { transfer } from '../../strings/transfer.ts'

export const endings = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' } as const
export type DownloadType = keyof typeof endings

/** Saves all the records that a transfer rejected. Rejects as every call of the client does. */
export async function downloadRejects(
  { accountId, connectionId, id }: Pick<Transfer, 'accountId' | 'connectionId' | 'id'>,
  type: DownloadType,
): Promise<void> {
  const path = operations.listRejects.path.replace('{id}', connectionId).replace('{transferId}', id)
  await download(path, { accountId }, type, transfer.fileName(id, endings[type]))
}
