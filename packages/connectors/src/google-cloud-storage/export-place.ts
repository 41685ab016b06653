import type { ConnectorContext, ExportPlace, HandoverTransfer } from '@penstock/connector'
import { writeOptionsOf } from '@penstock/connector/files'
import { objectNameOf, placeOf } from '../object-stores/place.ts'

/** The object that a transfer writes with these settings, for a source that writes it itself. */
export async function exportPlace(context: ConnectorContext & HandoverTransfer): Promise<ExportPlace> {
  const { settings } = context
  const { bucket, path } = placeOf(settings.outputPath, 'gs', 'The output path')
  const { format, binary = 'Hexadecimal' } = writeOptionsOf(settings)
  const gzip = settings.gzipOutput === true && format !== 'Parquet'
  const extension = `${format.toLowerCase()}${gzip ? '.gz' : ''}`
  return { scheme: 'gs', bucket, name: objectNameOf(path, context, extension), extension, format, gzip, binary }
}
