import { NoAnswerError, PenstockError } from '@penstock/client'
import { basePath, type Refused } from '@penstock/wire'
import { addressOf } from '../base-path.ts'
import { components } from '../strings/components.ts'
import { fetchInSession } from './session.ts'

/**
 * Saves a list as the service streams it. Rejects as every call of the client does.
 * @param path of the operation, with its identifiers
 * @param type the media type
 */
export async function download(
  path: string,
  query: Readonly<Record<string, string>>,
  type: string,
  fileName: string,
): Promise<void> {
  const response = await fetchInSession(`${addressOf(basePath + path)}?${new URLSearchParams(query)}`, type)
  if (!response.ok) throw await refusalOf(response)
  save(await response.blob(), fileName)
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
