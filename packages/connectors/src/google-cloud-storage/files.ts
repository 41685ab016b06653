import type { ConnectorContext, FileOffer } from '@penstock/connector'
import { fileStore } from '../object-stores/file-store.ts'
import { placeOf } from '../object-stores/place.ts'
import { makeGcsClient } from './gcs-client.ts'
import { gcsCompose } from './gcs-compose.ts'
import { gcsObjects } from './gcs-objects.ts'

const files = fileStore({
  reads: { setting: 'bucketUri', label: 'The bucket URI' },
  scheme: 'gs://',
  client(context, address, label) {
    const place = placeOf(address, 'gs', label)
    const client = makeGcsClient(context, place.bucket)
    return { ...place, client, objects: gcsObjects(client), addressOf: (name) => `gs://${place.bucket}/${name}` }
  },
  sink: ({ client }, { name, ownName: abortedName, contentType, transferId }) =>
    gcsCompose(client, { name, abortedName, contentType, transferId }),
})

export const { open, write, discover, discoverColumns, discoverWorkbook } = files

/** Offers the files that the bucket URI names. The versions of the files are their generations. */
export const offer = (context: ConnectorContext): Promise<FileOffer | { readonly whyNot: string }> =>
  files.offer(context, 'gs')
