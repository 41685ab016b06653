import { constants } from 'node:fs'
import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ConnectorError, type Json } from '@penstock/connector'
import { type FileSink, usualPartBytes } from '@penstock/connector/files'
import { asDiskError } from './disk-error.ts'

/** Up to where the file is on the disk permanently. */
type LocalDeliveryState = { readonly end: number }

/**
 * A file that grows under a hidden name beside its own, and is renamed when it is whole. Each part is on the disk
 * before its delivery state is given; what is there without a delivery state is cut off before the next part is written.
 */
export function localSink(directory: string, name: string): FileSink {
  const path = join(directory, name)
  const partial = join(directory, `.${name}.partial`)
  const endOf = (deliveryStates: readonly Json[]): number =>
    (deliveryStates.at(-1) as LocalDeliveryState | undefined)?.end ?? 0

  const sink: FileSink = {
    partBytesMin: usualPartBytes,
    async writePart({ offset, bytes }, deliveryStates) {
      return onDisk(name, async () => {
        const flags = constants.O_RDWR | constants.O_NOFOLLOW | (offset === 0 ? constants.O_CREAT : 0)
        await withFile(partial, flags, async (file) => {
          if ((await file.stat()).size < offset) throw cutOff(name)
          await file.truncate(offset)
          await writeAll(file, bytes, offset)
          await file.sync()
        }).catch((error: NodeJS.ErrnoException) => {
          throw error.code === 'ENOENT' && deliveryStates.length > 0 ? cutOff(name) : error
        })
        // The name has to outlast a crash of the machine, too.
        if (offset === 0) await syncDirectory(directory)
        return { end: offset + bytes.length } satisfies LocalDeliveryState
      })
    },
    async publish(deliveryStates) {
      await onDisk(name, async () => {
        const end = endOf(deliveryStates)
        const size = await sizeOf(partial)
        if (size === undefined) {
          // It was published before, or it was removed.
          if ((await sizeOf(path)) !== end) throw cutOff(name)
        } else {
          if (size < end) throw cutOff(name)
          if (size > end) {
            await withFile(partial, constants.O_RDWR | constants.O_NOFOLLOW, async (file) => {
              await file.truncate(end)
              await file.sync()
            })
          }
          await rename(partial, path)
        }
        await syncDirectory(directory)
      })
    },
    async abort(deliveryStates) {
      if (deliveryStates.length > 0) return sink.publish(deliveryStates)
      await unlink(partial).catch(() => {})
    },
  }
  return sink
}

async function onDisk<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw asDiskError(error, name)
  }
}

async function withFile(path: string, flags: number, work: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags)
  try {
    await work(file)
  } finally {
    await file.close()
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, offset + done)
    done += bytesWritten
  }
}

/** Puts the entries of a folder on the disk. */
export async function syncDirectory(directory: string): Promise<void> {
  await withFile(directory, constants.O_RDONLY | constants.O_DIRECTORY, (file) => file.sync())
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const cutOff = (name: string) =>
  new ConnectorError(
    'upload_lost',
    `${name} lost parts that were written before: it was removed or changed. Start a new transfer.`,
  )
