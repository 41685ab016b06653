import { constants } from 'node:fs'
import { type FileHandle, link, lstat, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ConnectorError, type Json } from '@penstock/connector'
import { type FileSink, partialNames, usualPartBytes } from '@penstock/connector/files'
import { asDiskError } from './disk-error.ts'

/** Up to where the file is on the disk permanently, and in which hidden file that is. */
type LocalDeliveryState = { readonly end: number; readonly partial?: string }

/**
 * A file that grows under a hidden name next to its final place, and gets its name when it is complete. Each part is on the
 * disk before its delivery state is returned.
 *
 * An attempt can sleep at any point, and wake after another one has continued or has published the file. So each attempt writes
 * a separate file, which begins with a copy of the confirmed part of the attempt before. It removes the files of all other
 * attempts before it publishes. An attempt that wakes then has no file to publish, and nobody reads what it writes.
 */
export function localSink(directory: string, name: string): FileSink {
  const path = join(directory, name)
  const partials = partialNames(name)
  const at = (partial: string) => join(directory, partial)
  /** The hidden file of this attempt, which no other one opens for writing. */
  let own: string | undefined

  /** Works on the file of this attempt, which has the bytes that these states confirm. */
  async function withOwn(deliveryStates: readonly Json[], work: (file: FileHandle) => Promise<void>): Promise<string> {
    own ??= await createOwn(deliveryStates)
    await withFile(at(own), constants.O_RDWR | constants.O_NOFOLLOW, work).catch((error: NodeJS.ErrnoException) => {
      // Another attempt has published, and removed it.
      throw error.code === 'ENOENT' ? cutOff(name) : error
    })
    return own
  }

  async function createOwn(deliveryStates: readonly Json[]): Promise<string> {
    const { end, partial } = lastOf(deliveryStates)
    // Whoever puts a link there tries to redirect the write.
    if (await isLink(at(partials.plain))) throw Object.assign(new Error('A link'), { code: 'ELOOP' })
    const created = partials.next()
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    await withFile(at(created), flags, async (file) => {
      if (end > 0) await copy(at(partial ?? partials.plain), file, end)
      await file.sync()
    }).catch(async (error: NodeJS.ErrnoException) => {
      await unlink(at(created)).catch(() => {})
      throw error.code === 'ENOENT' && end > 0 ? cutOff(name) : error
    })
    // The name must also survive a crash of the machine.
    await syncDirectory(directory)
    return created
  }

  async function copy(from: string, to: FileHandle, end: number): Promise<void> {
    await withFile(from, constants.O_RDONLY | constants.O_NOFOLLOW, async (file) => {
      const buffer = Buffer.allocUnsafeSlow(usualPartBytes)
      for (let done = 0; done < end; ) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - done), done)
        if (bytesRead === 0) throw cutOff(name)
        await writeAll(to, buffer.subarray(0, bytesRead), done)
        done += bytesRead
      }
    })
  }

  /** Removes hidden files of this transfer, except the file of one attempt. */
  async function removePartials(but?: string): Promise<void> {
    for (const each of await readdir(directory)) {
      if (partials.includes(each) && each !== but) await unlink(at(each)).catch(() => {})
    }
    if (but === undefined) own = undefined
  }

  const sink: FileSink = {
    partBytesMin: usualPartBytes,
    async writePart({ offset, bytes }, deliveryStates) {
      return onDisk(name, async () => {
        const partial = await withOwn(deliveryStates, async (file) => {
          if ((await file.stat()).size < offset) throw cutOff(name)
          // Removes the bytes of an unconfirmed part that an earlier call wrote.
          await file.truncate(offset)
          await writeAll(file, bytes, offset)
          await file.sync()
        })
        return { end: offset + bytes.length, partial } satisfies LocalDeliveryState
      })
    },
    async publish(deliveryStates) {
      await onDisk(name, async () => {
        const { end } = lastOf(deliveryStates)
        // Another attempt may have published it, with the same rows.
        if ((await sizeOf(path)) !== end) {
          const partial = await withOwn(deliveryStates, async (file) => {
            if ((await file.stat()).size < end) throw cutOff(name)
            await file.truncate(end)
            await file.sync()
          })
          await removePartials(partial)
          await giveName(at(partial), path).catch(async (error: NodeJS.ErrnoException) => {
            // Another attempt was faster: its file is the same, or this one has lost it.
            if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
            if ((await sizeOf(path)) !== end) throw cutOff(name)
          })
        }
        await removePartials()
        await syncDirectory(directory)
      })
    },
    async abort(deliveryStates) {
      if (deliveryStates.length > 0) return sink.publish(deliveryStates)
      await removePartials()
    },
    async close() {
      // The next attempt needs the confirmed parts, unless an attempt has already published the file.
      if (own !== undefined && (await sizeOf(path)) !== undefined) await unlink(at(own))
    },
  }
  return sink
}

const lastOf = (deliveryStates: readonly Json[]): LocalDeliveryState =>
  (deliveryStates.at(-1) as LocalDeliveryState | undefined) ?? { end: 0 }

/** The file gets its name in one step, and does not replace another file. */
async function giveName(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    // A file system without further names for a file.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error
    await rename(from, to)
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
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
