import { NoAnswerError, PenstockError } from '@penstock/client'
import { basePath, operations, type Refused, type Transfer } from '@penstock/wire'
import { fetchInSession } from '../../api/session.ts'
import { addressOf } from '../../base-path.ts'
import { components } from '../../strings/components.ts'
import { transfer } from '../../strings/transfer.ts'

export const endings = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' } as const
export type DownloadType = keyof typeof endings

/**
 * Saves all the records that a transfer rejected, as the service streams them.
 * Rejects as every call of the client does.
 */
export async function downloadRejects(
  { accountId, connectionId, id }: Pick<Transfer, 'accountId' | 'connectionId' | 'id'>,
  type: DownloadType,
): Promise<void> {
  const path = operations.listRejects.path.replace('{id}', connectionId).replace('{transferId}', id)
  const address = `${addressOf(basePath + path)}?${new URLSearchParams({ accountId })}`
  const response = await fetchInSession(address, type)
  if (!response.ok) throw await refusalOf(response)
  save(await response.blob(), transfer.fileName(id, endings[type]))
}

async function refusalOf(response: Response): Promise<Error> {
  try {
    const { statusMessage, response: refused } = (await response.json()) as { statusMessage: string; response: Refused }
    return new PenstockError(response.status, statusMessage, refused, undefined)
  } catch (cause) {
    return new NoAnswerError(components.unreachable, { cause, status: response.status })
  }
}

function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser has taken the content by then, or will never.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
