import { asConnectorError, ConnectorError, type Json, type Values } from '@penstock/connector'
import type { FileSink } from '@penstock/connector/files'
import { discard, textOf } from '../object-stores/answers.ts'
import { element, elements, escapeXml, readXml, textAt } from '../object-stores/xml.ts'
import type { S3Client, S3Request } from './s3-client.ts'
import { connectorErrorOf, problemIn } from './s3-errors.ts'

/**
 * S3 accepts at most this number of parts, each of at least 5 MiB except the last. With these, a file can have at least 78 GiB.
 */
const partsMax = 10_000
const partBytesMin = 8 << 20

/** A part is sent, and an upload completed, within this time. */
const writeTimeoutMs = 300_000
const cleanUpTimeoutMs = 15_000

/** The delivery state of a part. The state of the first part also names the upload to which all of them belong. */
type PartDeliveryState = { readonly part: number; readonly etag: string; readonly upload?: string }

export type S3Target = {
  readonly bucket: string
  readonly key: string
  readonly contentType: string
  readonly transferId: string
  /** Headers that say how the object is encrypted. */
  readonly encryption?: Readonly<Record<string, string>>
}

/** Headers of the encryption that settings choose. Empty if the bucket chooses it. */
export function encryptionOf({ encryption, kmsKeyId }: Values): Readonly<Record<string, string>> {
  if (encryption === 'SSE-S3') return { 'x-amz-server-side-encryption': 'AES256' }
  if (encryption !== 'SSE-KMS') return {}
  const key = typeof kmsKeyId === 'string' ? kmsKeyId.trim() : ''
  // Whatever it is becomes a header.
  if (!/^[\w:/-]{0,2048}$/.test(key)) {
    throw new ConnectorError('invalid_setting', 'The KMS key must be an ARN, an ID, or an alias such as alias/name.')
  }
  return {
    'x-amz-server-side-encryption': 'aws:kms',
    ...(key === '' ? {} : { 'x-amz-server-side-encryption-aws-kms-key-id': key }),
  }
}

/**
 * Writes one object by a multipart upload, of which nothing is visible until it is completed. The object carries the
 * transfer's name, by which a completion is known whose answer was lost.
 */
export function s3Upload(client: S3Client, target: S3Target): FileSink {
  const { bucket, key, contentType, transferId, encryption } = target
  const put = { bucket, key, permission: 's3:PutObject', timeoutMs: writeTimeoutMs } as const
  const labels = { 'content-type': contentType, 'x-amz-meta-penstock-transfer': transferId, ...encryption }
  let begun: string | undefined

  const uploadOf = (deliveryStates: readonly Json[]): string | undefined =>
    (deliveryStates[0] as PartDeliveryState | undefined)?.upload ?? begun

  const begin = async (): Promise<string> => {
    await endOthers(client, target)
    const response = await client.request({ ...put, method: 'POST', query: { uploads: '' }, headers: labels })
    const upload = textAt(readXml(await textOf(response), 'The store'), 'InitiateMultipartUploadResult', 'UploadId')
    if (upload === '') throw new ConnectorError('malformed_response', 'The store started an upload without an ID.')
    begun = upload
    return upload
  }

  const sink: FileSink = {
    partBytesMin,
    async writePart({ number, bytes }, deliveryStates) {
      if (number >= partsMax) throw tooLarge(key)
      const upload = uploadOf(deliveryStates) ?? (await begin())
      const query = { partNumber: String(number + 1), uploadId: upload }
      try {
        const response = await client.request({ ...put, method: 'PUT', query, body: bytes })
        await discard(response)
        const etag = response.headers.get('etag')
        if (!etag) throw new ConnectorError('malformed_response', 'The store accepted a part without an ID.')
        return { part: number + 1, etag, ...(number === 0 ? { upload } : {}) } satisfies PartDeliveryState
      } catch (error) {
        throw asConnectorError(error)?.code === 'upload_lost' ? uploadLost(key) : error
      }
    },
    async publish(deliveryStates) {
      const upload = uploadOf(deliveryStates)
      if (upload === undefined || deliveryStates.length === 0) {
        await discard(await client.request({ ...put, method: 'PUT', headers: labels, body: '' }))
        return
      }
      const parts = deliveryStates.map((deliveryState) => deliveryState as PartDeliveryState)
      try {
        await complete(client, { ...put, method: 'POST', query: { uploadId: upload }, body: completionOf(parts) })
      } catch (error) {
        if (asConnectorError(error)?.code !== 'upload_lost') throw error
        if (!(await isOurs(client, target))) throw uploadLost(key)
      }
    },
    async abort(deliveryStates) {
      // Parts without a delivery state are not named in the completion, and S3 removes them.
      if (deliveryStates.length > 0) return sink.publish(deliveryStates)
      if (begun === undefined) await endOthers(client, target, AbortSignal.timeout(cleanUpTimeoutMs))
      else await end(client, bucket, key, begun)
    },
  }
  return sink
}

async function complete(client: S3Client, asked: S3Request): Promise<void> {
  const text = await textOf(await client.request(asked))
  const problem = problemIn(text, 'The store', client.redact)
  if (problem) throw connectorErrorOf(problem, asked, 'The store')
}

const completionOf = (parts: readonly PartDeliveryState[]): string =>
  `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts
    .map(({ part, etag }) => `<Part><PartNumber>${part}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`)
    .join('')}</CompleteMultipartUpload>`

/** Whether the existing object belongs to this transfer. */
async function isOurs(client: S3Client, { bucket, key, transferId }: S3Target): Promise<boolean> {
  try {
    const response = await client.request({ method: 'HEAD', bucket, key, permission: 's3:GetObject' })
    await discard(response)
    return response.headers.get('x-amz-meta-penstock-transfer') === transferId
  } catch (error) {
    if (asConnectorError(error)?.code === 'source_changed') return false
    throw error
  }
}

/**
 * Ends uploads of an attempt that was killed before it stored their IDs. They would cost money unnoticed. Only if no other
 * transfer can have this key. Some access keys are not allowed to do it. Then the bucket's own rules must end them.
 */
async function endOthers(client: S3Client, target: S3Target, signal?: AbortSignal): Promise<void> {
  const { bucket, key, transferId } = target
  if (!key.includes(transferId)) return
  try {
    const permission = 's3:ListBucketMultipartUploads'
    const asked = { bucket, query: { uploads: '', prefix: key }, permission, ...(signal ? { signal } : {}) }
    const result = element(
      readXml(await textOf(await client.request(asked)), 'The store'),
      'ListMultipartUploadsResult',
    )
    for (const upload of elements(result, 'Upload')) {
      if (textAt(upload, 'Key') === key) await end(client, bucket, key, textAt(upload, 'UploadId'))
    }
  } catch (error) {
    if (!asConnectorError(error)) throw error
  }
}

/** Ends an upload, as far as possible. An aborted context is no reason to leave it. */
async function end(client: S3Client, bucket: string, key: string, uploadId: string): Promise<void> {
  const signal = AbortSignal.timeout(cleanUpTimeoutMs)
  const permission = 's3:AbortMultipartUpload'
  try {
    await discard(await client.request({ method: 'DELETE', bucket, key, query: { uploadId }, permission, signal }))
  } catch {
    // It is gone, or stays until the bucket's rules remove it.
  }
}

const uploadLost = (key: string): ConnectorError =>
  new ConnectorError(
    'upload_lost',
    `The upload of ${key} was ended before it was complete, perhaps by a rule of the bucket. Start another transfer.`,
  )

const tooLarge = (key: string): ConnectorError =>
  new ConnectorError(
    'file_too_large',
    `${key} would have more than ${partsMax} parts. Send the data in several transfers.`,
  )
