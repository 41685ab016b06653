import { createHash } from 'node:crypto'
import { asConnectorError, ConnectorError } from '@penstock/connector'
import type { S3Client } from '../../amazon-s3/s3-client.ts'
import { s3Objects } from '../../amazon-s3/s3-objects.ts'
import { discard } from '../../object-stores/answers.ts'
import { fileStoreOf, sourceChanged } from '../../object-stores/object-store.ts'

type Place = {
  readonly bucket: string
  /** The file, the two that follow it, and the transfer that writes them. */
  readonly key: string
  readonly checksum: string
  readonly done: string
  readonly transferId: string
}

/** The files by which a platform finds out that another one is whole. */
export function openCompletion(client: S3Client, { bucket, key, checksum, done, transferId }: Place) {
  let isFree = false
  const put = async (name: string, body: string) => {
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-amz-meta-penstock-transfer': transferId }
    await discard(await client.request({ method: 'PUT', bucket, key: name, headers, body, permission: 's3:PutObject' }))
  }
  return {
    /**
     * Throws `request_refused` if files of another transfer exist, because the platform may be reading them. Makes only one
     * request.
     */
    async assertFree(): Promise<void> {
      if (isFree) return
      const owner = await ownerOf(client, bucket, done)
      if (owner !== undefined && owner !== transferId) {
        const message = `${done} already exists, and the platform accepts one set of files per day. Start the transfer on another day.`
        throw new ConnectorError('request_refused', message)
      }
      isFree = true
    },
    /** Reads the file again, since a transfer that was resumed has not seen all of it. */
    async write(): Promise<void> {
      const store = s3Objects(client, bucket)
      const file = await store.find(key)
      if (!file) throw sourceChanged(key)
      const digest = createHash('md5')
      for await (const bytes of fileStoreOf(store, key, 'CSV').read(file, 0)) digest.update(bytes)
      await put(checksum, `${digest.digest('hex')}  ${key.slice(key.lastIndexOf('/') + 1)}\n`)
      await put(done, '')
    },
  }
}

/** The transfer that wrote an object. Empty if another program did, `undefined` if the object does not exist. */
async function ownerOf(client: S3Client, bucket: string, key: string): Promise<string | undefined> {
  try {
    const response = await client.request({ method: 'HEAD', bucket, key, permission: 's3:GetObject' })
    await discard(response)
    return response.headers.get('x-amz-meta-penstock-transfer') ?? ''
  } catch (error) {
    if (asConnectorError(error)?.code === 'source_changed') return undefined
    throw error
  }
}
