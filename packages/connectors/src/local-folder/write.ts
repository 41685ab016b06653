import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type ConnectorContext,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
} from '@penstock/connector'
import { fileNameOf, writeFiles, writeOptionsOf } from '@penstock/connector/files'
import { asDiskError } from './disk-error.ts'
import { localSink, syncDirectory } from './local-sink.ts'
import { folderOf, followWithin, namesIn } from './paths.ts'

/** Writes one file into the folder that the settings name. */
export async function write(context: DestinationContext): Promise<DestinationWriter> {
  const { prefix } = context.settings
  try {
    const directory = await directoryOf(context)
    const made = await mkdir(directory, { recursive: true })
    // The names of new folders must survive a crash of the machine, like the file in them.
    if (made !== undefined) await syncDirectories(dirname(made), directory)
    return await writeFiles(
      context,
      (extension) => localSink(directory, `${prefixOf(prefix)}${fileNameOf(context, extension)}`),
      writeOptionsOf(context.settings),
    )
  } catch (error) {
    throw asDiskError(error, 'The subfolder')
  }
}

/** The resolved path of the directory in the settings. A directory that does not exist yet keeps its path. */
export async function directoryOf(context: ConnectorContext): Promise<string> {
  const folder = await folderOf(context)
  const { subfolder } = context.settings
  const names = namesIn(typeof subfolder === 'string' ? subfolder : '', 'The subfolder')
  return followWithin(folder, join(folder, ...names))
}

/** Puts the entries of a folder, and of those down to one within it, on the disk. */
async function syncDirectories(from: string, to: string): Promise<void> {
  for (let each = to; each !== from; each = dirname(each)) await syncDirectory(each)
  await syncDirectory(from)
}

/** The prefix of the names of files. Throws `path_not_allowed` if a name cannot begin with it. */
export function prefixOf(prefix: unknown): string {
  if (typeof prefix !== 'string') return ''
  if (/^\.|[/\0]/.test(prefix)) {
    const message = 'The prefix must not begin with a dot or have a slash in it. Folders are named by the subfolder.'
    throw new ConnectorError('path_not_allowed', message)
  }
  return prefix
}
