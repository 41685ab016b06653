import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type DestinationContext, type DestinationWriter, Outcome } from '@penstock/connector'
import { fileNameOf, writeFiles, writeOptionsOf } from '@penstock/connector/files'
import { asDiskOutcome } from './disk-outcome.ts'
import { localSink, syncDirectory } from './local-sink.ts'
import { folderOf, followWithin, namesIn } from './paths.ts'

/** Writes one file into the folder that the settings name. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const folder = await folderOf(context)
  const { subfolder, prefix } = context.settings
  const path = join(folder, ...namesIn(typeof subfolder === 'string' ? subfolder : '', 'The subfolder'))
  try {
    const directory = await followWithin(folder, path)
    const made = await mkdir(directory, { recursive: true })
    // The names of new folders have to outlast a crash of the machine, like the file in them.
    if (made !== undefined) await syncDirectories(dirname(made), directory)
    return await writeFiles(
      context,
      (extension) => localSink(directory, `${prefixOf(prefix)}${fileNameOf(context, extension)}`),
      writeOptionsOf(context.settings),
    )
  } catch (error) {
    throw asDiskOutcome(error, 'The subfolder')
  }
}

/** Puts the entries of a folder, and of those down to one within it, on the disk. */
async function syncDirectories(from: string, to: string): Promise<void> {
  for (let each = to; each !== from; each = dirname(each)) await syncDirectory(each)
  await syncDirectory(from)
}

function prefixOf(prefix: unknown): string {
  if (typeof prefix !== 'string') return ''
  if (/^\.|[/\0]/.test(prefix)) {
    const message = 'The prefix must not begin with a dot or have a slash in it. Folders are named by the subfolder.'
    throw new Outcome('refused', 'path_not_allowed', message)
  }
  return prefix
}
