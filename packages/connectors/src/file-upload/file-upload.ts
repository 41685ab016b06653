import { defineConnector, text } from '@penstock/connector'
import { formatFields } from '@penstock/connector/files/definition'
import { fileSource } from '../kit/file-store.ts'
import { fileUploadPlatform } from './platform.ts'

const read = () => import('./read.ts')

/** A file that someone uploaded to this service. */
export const fileUpload = defineConnector({
  slug: 'file-upload',
  name: 'Uploaded file',
  platform: fileUploadPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads a file that was uploaded to this service: CSV, JSON, Excel, Parquet, Avro or DuckDB, compressed with gzip, zstd, bzip2 or not.',
  actions: ['read'],
  notes:
    'A file is uploaded in the console or with `POST /es/v2/uploads`. It is stored sealed, read by the connections of its sub-account alone, and deleted after some hours that the operator chooses, 24 unless set otherwise. A transfer that starts after that fails, and names what to do.',
  tested: 'The uploads of this service itself, on PostgreSQL.',
  secrets: {},
  readsUploads: true,
  source: fileSource(
    read,
    {
      upload: text({
        label: 'Uploaded file',
        description: 'The file to read',
        required: true,
      }),
    },
    { upload: async (context) => (await read()).discoverUploads(context) },
    formatFields,
  ),
  check: async (context) => (await read()).check(context),
})
