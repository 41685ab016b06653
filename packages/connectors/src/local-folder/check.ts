import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, open, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asConnectorError, ConnectorError, checkSteps, type Inspect, inspectBy } from '@penstock/connector'
import { asDiskError } from './disk-error.ts'
import { folderOf } from './paths.ts'
import { directoryOf, prefixOf } from './write.ts'

/** Checks whether the folder exists and is allowed, and whether it can be read or written. */
export const check = checkSteps(
  [
    'connectivity',
    async (context) => {
      await folderOf(context)
      return 'The folder exists and is allowed.'
    },
  ],
  [
    'permissions',
    async (context) => {
      const folder = await folderOf(context)
      const canRead = await permits(() => access(folder, constants.R_OK | constants.X_OK))
      // Only a write shows whether a folder is writable, because a disk can be mounted read-only.
      const canWrite = await permits(() => tryToWrite(folder))
      if (canRead && canWrite) return 'Files can be read and written.'
      if (canRead) return 'Files can be read, but not written: the folder can be a source, but not a destination.'
      if (canWrite) return 'Files can be written, but not read: the folder can be a destination, but not a source.'
      const message = 'The user that this service runs as can neither read nor write the folder. Grant the permission.'
      throw new ConnectorError('permission_denied', message)
    },
  ],
)

/** Looks whether files can be written where the settings say. */
export const inspect: Inspect = inspectBy(async (context) => {
  prefixOf(context.settings.prefix)
  try {
    await tryToWrite(await existing(await directoryOf(context)))
  } catch (error) {
    throw asDiskError(error, 'The subfolder')
  }
})

/** The directory, or the nearest one above it that is there, in which it would be made. */
async function existing(directory: string): Promise<string> {
  try {
    await access(directory)
    return directory
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    return existing(dirname(directory))
  }
}

async function permits(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    const connectorError = asConnectorError(asDiskError(error, 'The folder'))
    if (connectorError?.code === 'permission_denied') return false
    throw connectorError ?? error
  }
}

async function tryToWrite(folder: string): Promise<void> {
  const path = join(folder, `.penstock-check-${randomUUID()}`)
  const file = await open(path, 'wx')
  await file.close()
  await unlink(path)
}
