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
import { openDropbox } from './dropbox-client.ts'
import { dropboxFiles } from './dropbox-files.ts'
import { pathIn } from './paths.ts'

/** Opens what the path means. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const options = readOptionsOf(context.settings)
  return readFiles(context, storeOf(context, options.format), options)
}

/** The columns of the files that the path means. */
export async function discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const options = readOptionsOf(context.settings)
  return discoverFileColumns(context, storeOf(context, options.format), options)
}

/** The sheets of the workbook that the path means. */
export const discoverWorkbook = (context: DiscoveryContext): Promise<DiscoveredPage> =>
  discoverSheets(context, storeOf(context, readOptionsOf(context.settings).format))

const storeOf = (context: ConnectorContext, format: FileFormat): FileStore =>
  fileStoreOf(dropboxFiles(openDropbox(context)), pathIn(context.settings.path), format)
