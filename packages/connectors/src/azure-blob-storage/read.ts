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
import { azureBlobs } from './azure-blobs.ts'
import { makeAzureClient } from './azure-client.ts'
import { locate } from './container.ts'

/** Opens what the blob URI means. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const options = readOptionsOf(context.settings)
  return readFiles(context, storeOf(context, options.format), options)
}

/** The columns of the files that the blob URI means. */
export async function discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const options = readOptionsOf(context.settings)
  return discoverFileColumns(context, storeOf(context, options.format), options)
}

/** The sheets of the workbook that the blob URI means. */
export const discoverWorkbook = (context: DiscoveryContext): Promise<DiscoveredPage> =>
  discoverSheets(context, storeOf(context, readOptionsOf(context.settings).format))

function storeOf(context: ConnectorContext, format: FileFormat): FileStore {
  const { container, path } = locate(context, context.settings.blobUri, 'The blob URI')
  return { ...fileStoreOf(azureBlobs(makeAzureClient(context, container)), path, format), id: container.name }
}
