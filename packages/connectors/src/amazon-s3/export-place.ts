import {
  asConnectorError,
  type ConnectorContext,
  type ExportPlace,
  type HandoverTransfer,
  readWhole,
} from '@penstock/connector'
import { writeOptionsOf } from '@penstock/connector/files'
import { objectNameOf, placeOf } from '../object-stores/place.ts'
import { makeS3Client } from './s3-client.ts'
import { s3Objects } from './s3-objects.ts'

/** Size limit of the manifest of an export, in bytes. */
const readMax = 16 << 20

/** The object that a transfer writes with these settings, for a source that writes it itself. */
export async function exportPlace(
  context: ConnectorContext & HandoverTransfer,
): Promise<ExportPlace | { readonly whyNot: string }> {
  const { settings, secrets } = context
  if (secrets.endpoint) return { whyNot: 'the bucket is at an endpoint of its own, and not in Amazon S3' }
  if (settings.encryption === 'SSE-KMS')
    return { whyNot: 'the files are encrypted with a key that the connection names' }
  const { bucket, path } = placeOf(settings.outputPath, 's3', 'The output path')
  const { format, gzip, binary = 'Hexadecimal' } = writeOptionsOf(settings)
  const isPacked = gzip === true && format !== 'Parquet'
  const extension = `${format.toLowerCase()}${isPacked ? '.gz' : ''}`
  const client = makeS3Client(context)
  try {
    // The answer says which region the bucket is in.
    await s3Objects(client, bucket).page(path, undefined, 1)
  } catch (error) {
    if (asConnectorError(error)?.code !== 'permission_denied') throw error
  }
  const { region } = await client.access()
  return {
    scheme: 's3',
    bucket,
    name: objectNameOf(path, context, extension, true),
    extension,
    format,
    gzip: isPacked,
    binary,
    region,
    async read(key) {
      try {
        const response = await client.request({ bucket, key, permission: 's3:GetObject' })
        return await readWhole(response, 'Amazon S3', readMax)
      } catch (error) {
        if (asConnectorError(error)?.code === 'source_changed') return undefined
        throw error
      }
    },
  }
}
