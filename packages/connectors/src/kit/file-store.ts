import type {
  Destination,
  DestinationContext,
  DestinationWriter,
  Fields,
  Inspect,
  SourceSide,
} from '@penstock/connector'
import { fileBatch, readFields, whyNotPartsOfFiles } from '@penstock/connector/files/definition'
import type { FileReading } from '../object-stores/file-store.ts'

/**
 * The side of a connector that reads files.
 * @param load imports the code when it is called
 * @param fields the fields that say what is read; the fields of the file formats follow
 * @param discover finds values of these fields
 * @param formats the fields of the formats; by default all
 */
export const fileSource = (
  load: () => Promise<FileReading>,
  fields: Fields,
  discover: SourceSide['discover'] = {},
  formats: Fields = readFields,
): SourceSide => ({
  fields: { ...fields, ...formats },
  open: async (context) => (await load()).open(context),
  columnsByReading: true,
  discover: {
    ...discover,
    sheet: async (context) => (await load()).discoverWorkbook(context),
    columns: async (context) => (await load()).discoverColumns(context),
  },
})

/**
 * How a connector writes files.
 * @param load imports the code when it is called
 * @param loadCheck imports what looks whether files can be written
 */
export const fileDelivery = (
  load: () => Promise<{ write(context: DestinationContext): Promise<DestinationWriter> }>,
  loadCheck: () => Promise<{ readonly inspect: Inspect }>,
): Destination => ({
  batch: fileBatch,
  whyNotParts: whyNotPartsOfFiles,
  open: async (context) => (await load()).write(context),
  rejectionsOf: async (context) => (await import('@penstock/connector/files')).fileRejections(context),
  inspect: async (context) => (await loadCheck()).inspect(context),
})
