import type {
  ConnectorContext,
  DiscoveredPage,
  DiscoveryContext,
  SourceContext,
  SourceReader,
} from '@penstock/connector'
import { type FileFormat, type FileStore, readFiles, readOptionsOf } from '@penstock/connector/files'
import { discoverFileColumns } from '../discovery/columns.ts'
import { discoverSheets } from '../discovery/sheets.ts'
import { fileStoreOf } from '../object-stores/object-store.ts'
import { placeOf } from '../object-stores/place.ts'
import { makeS3Client } from './s3-client.ts'
import { s3Objects } from './s3-objects.ts'

/** Opens what the bucket URI means. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const options = readOptionsOf(context.settings)
  return readFiles(context, storeOf(context, options.format), options)
}

/** The columns of the files that the bucket URI means. */
export async function discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const options = readOptionsOf(context.settings)
  return discoverFileColumns(context, storeOf(context, options.format), options)
}

/** The sheets of the workbook that the bucket URI means. */
export const discoverWorkbook = (context: DiscoveryContext): Promise<DiscoveredPage> =>
  discoverSheets(context, storeOf(context, readOptionsOf(context.settings).format))

function storeOf(context: ConnectorContext, format: FileFormat): FileStore {
  const { bucket, path } = placeOf(context.settings.bucketUri, 's3', 'The bucket URI')
  return { ...fileStoreOf(s3Objects(makeS3Client(context), bucket), path, format), id: bucket }
}
