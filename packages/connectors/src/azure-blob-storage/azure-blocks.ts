import { createHash } from 'node:crypto'
import { ConnectorError, type Json } from '@penstock/connector'
import { type FileSink, usualPartBytes } from '@penstock/connector/files'
import { discard } from '../object-stores/answers.ts'
import { type AzureClient, failedWith } from './azure-client.ts'

/** Azure accepts at most this number of blocks. With parts of the usual size, a blob can have at least 195 GiB. */
const blocksMax = 50_000

/** A block is sent, and a list of all of them taken, within this time. */
const writeTimeoutMs = 300_000

export type AzureTarget = { readonly blob: string; readonly contentType: string; readonly transferId: string }

/**
 * Writes one blob block by block. Nothing is visible until the list of its blocks is committed, and uncommitted blocks vanish
 * after a week. Their names contain the transfer and the number. So a repeated block replaces itself, and committing the list
 * again results in the same blob.
 */
export function azureBlocks(client: AzureClient, { blob, contentType, transferId }: AzureTarget): FileSink {
  const put = { method: 'PUT', blob, permission: 'write blobs', timeoutMs: writeTimeoutMs } as const
  // All names of a blob's blocks must be of the same length.
  const digest = createHash('sha256').update(transferId).digest('hex').slice(0, 24)
  const nameOf = (number: number): string =>
    Buffer.from(`${digest}-${String(number).padStart(5, '0')}`).toString('base64')

  const commit = async (blocks: number, conditions: Readonly<Record<string, string>>): Promise<void> => {
    const names = Array.from({ length: blocks }, (_, number) => `<Latest>${nameOf(number)}</Latest>`)
    const body = `<?xml version="1.0" encoding="utf-8"?><BlockList>${names.join('')}</BlockList>`
    const headers = { ...conditions, 'content-type': 'application/xml', 'x-ms-blob-content-type': contentType }
    try {
      await discard(await client.request({ ...put, query: { comp: 'blocklist' }, headers, body }))
    } catch (error) {
      throw failedWith(error, 'upload_lost') ? blocksLost(blob) : error
    }
  }

  return {
    partBytesMin: usualPartBytes,
    async writePart({ number, bytes }) {
      if (number >= blocksMax) throw tooLarge(blob)
      const headers = { 'content-md5': createHash('md5').update(bytes).digest('base64') }
      const query = { comp: 'block', blockid: nameOf(number) }
      await discard(await client.request({ ...put, query, headers, body: bytes }))
      return { block: number }
    },
    publish: (deliveryStates: readonly Json[]) => commit(deliveryStates.length, {}),
    async abort(deliveryStates) {
      // Blocks without a delivery state can be removed only by Azure itself, which does so when others are committed.
      // A blob of this name is the work of an earlier transfer, or of an earlier attempt of this one: it stays.
      if (deliveryStates.length > 0) await commit(deliveryStates.length, { 'if-none-match': '*' })
    },
  }
}

const blocksLost = (blob: string): ConnectorError =>
  new ConnectorError(
    'upload_lost',
    `Blocks of ${blob} are gone: another client wrote this blob meanwhile, or a week has passed. Start another transfer.`,
  )

const tooLarge = (blob: string): ConnectorError =>
  new ConnectorError(
    'file_too_large',
    `${blob} would have more than ${blocksMax} blocks. Send the data in several transfers.`,
  )
