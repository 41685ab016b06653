import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { writeFiles, writeOptionsOf } from '@penstock/connector/files'
import { objectNameOf } from '../object-stores/place.ts'
import { openDropbox } from './dropbox-client.ts'
import { dropboxSink } from './dropbox-sink.ts'
import { pathIn } from './paths.ts'

/** Opens the file that this transfer writes. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, startedTime, transferId } = context
  const client = openDropbox(context)
  const path = pathIn(settings.outputPath)
  return writeFiles(
    context,
    (extension) => {
      const name = objectNameOf(path, context, extension, context.test)
      const abortedName = objectNameOf(path, context, extension, true)
      return dropboxSink(client, { name, abortedName, transferId, startedTime })
    },
    writeOptionsOf(settings),
  )
}
