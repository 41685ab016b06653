import type { ConnectorContext, FileOffer } from '@penstock/connector'
import { fileStore } from '../object-stores/file-store.ts'
import { placeOf } from '../object-stores/place.ts'
import { makeS3Client } from './s3-client.ts'
import { s3Objects } from './s3-objects.ts'
import { encryptionOf, s3Upload } from './s3-upload.ts'

const files = fileStore({
  reads: { setting: 'bucketUri', label: 'The bucket URI' },
  scheme: 's3://',
  client(context, address, label) {
    const place = placeOf(address, 's3', label)
    const client = makeS3Client(context)
    const objects = s3Objects(client, place.bucket)
    return { ...place, client, objects, addressOf: (name) => `s3://${place.bucket}/${name}` }
  },
  // Each transfer writes a separate object.
  sink: ({ client, bucket }, { ownName: key, contentType, transferId }, { settings }) =>
    s3Upload(client, { bucket, key, contentType, transferId, encryption: encryptionOf(settings) }),
})

export const { open, write, discover, discoverColumns, discoverWorkbook } = files

/** Offers the files that the bucket URI names. Only a worker knows the addresses of a store at another endpoint. */
export const offer = async (context: ConnectorContext): Promise<FileOffer | { readonly whyNot: string }> =>
  context.secrets.endpoint
    ? { whyNot: 'the bucket is at an endpoint of its own, and not in Amazon S3' }
    : files.offer(context, 's3')
