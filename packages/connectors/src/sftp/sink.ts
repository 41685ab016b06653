import { type ConnectorContext, ConnectorError, type Json } from '@penstock/connector'
import { type FileSink, partialNames } from '@penstock/connector/files'
import type { HostKey } from './host-key.ts'
import { isMissing, isRefusal } from './problems.ts'
import {
  attributesOf,
  closeFile,
  openFile,
  readBytes,
  remove,
  rename,
  stat,
  sync,
  truncate,
  writeBytes,
} from './requests.ts'
import { makeSessions, openSession, type SftpSession } from './session.ts'
import { join } from './store.ts'

const abortTimeoutMs = 15_000
/**
 * Attempts of one transfer whose hidden files are found by their numbers. Files of later attempts are found by their delivery
 * states.
 */
const attemptsMax = 50

/** The end of a part in the file, and the hidden file that contains it. */
type DeliveryState = { readonly end: number; readonly partial?: string }
const lastOf = (deliveryStates: readonly Json[]): DeliveryState =>
  (deliveryStates.at(-1) as DeliveryState | undefined) ?? { end: 0 }

/** A file that is open for writing, in the session that opened it. */
type Opened = { readonly session: SftpSession; readonly handle: Buffer; end: number }

/**
 * A file on a server, written under a hidden name next to its final place and renamed when it is complete.
 *
 * An attempt can sleep at any point, and wake after another one has continued or has published the file. So each attempt writes
 * a separate file, which begins with a copy of the confirmed part of the attempt before. It removes the files of all other
 * attempts before it publishes. An attempt that wakes then has no file to rename, and nobody reads what it writes.
 */
export function openSftpSink(
  context: ConnectorContext,
  directory: string,
  fileName: string,
  hostKey: HostKey,
): FileSink {
  const sessions = makeSessions(context, hostKey)
  const path = join(directory, fileName)
  const partials = partialNames(fileName)
  const at = (partial: string) => join(directory, partial)
  /** The hidden file of this attempt, once it has what was confirmed before. */
  let own: string | undefined
  let opened: Opened | undefined

  async function openAt(offset: number, deliveryStates: readonly Json[]): Promise<Opened & { partial: string }> {
    const session = await sessions.open()
    own ??= await createOwn(session, deliveryStates)
    const partial = at(own)
    if (opened?.session !== session) {
      const handle = await openFile(session, partial, 'r+').catch((error: unknown) => {
        throw isMissing(error) ? lost(fileName) : error
      })
      const { size } = await attributesOf(session, partial, handle)
      opened = { session, handle, end: size }
    }
    if (opened.end < offset) throw lost(fileName)
    if (opened.end > offset) await truncate(session, partial, opened.handle, offset)
    opened.end = offset
    return Object.assign(opened, { partial })
  }

  /** Makes the file of this attempt, with the bytes that these states confirm. */
  async function createOwn(session: SftpSession, deliveryStates: readonly Json[]): Promise<string> {
    const { end, partial: confirmed = partials.plain } = lastOf(deliveryStates)
    const { created, handle } = await create(session)
    try {
      if (end > 0) await copy(session, at(confirmed), at(created), handle, end)
      await sync(session, at(created), handle)
      return created
    } catch (error) {
      if (session.alive) await remove(session, at(created)).catch(() => {})
      throw isMissing(error) ? lost(fileName) : error
    } finally {
      if (session.alive) await closeFile(session, at(created), handle).catch(() => {})
    }
  }

  /** Makes a file under the first name that is free. Not every server refuses to make one that is there, so it is asked first. */
  async function create(session: SftpSession): Promise<{ created: string; handle: Buffer }> {
    for (let number = 1; ; number += 1) {
      const isLast = number > attemptsMax
      const created = isLast ? partials.next() : partials.numbered(number)
      if (!isLast && (await sizeOf(session, at(created))) !== undefined) continue
      try {
        return { created, handle: await openFile(session, at(created), 'wx') }
      } catch (error) {
        if (isMissing(error)) throw noDirectory(directory)
        // There is no specific error for a name that was taken meanwhile.
        if (!isRefusal(error) || isLast || (await sizeOf(session, at(created))) === undefined) throw error
      }
    }
  }

  async function copy(session: SftpSession, from: string, to: string, into: Buffer, end: number): Promise<void> {
    const handle = await openFile(session, from, 'r')
    try {
      let done = 0
      for await (const bytes of readBytes(session, from, handle, 0, end)) {
        await writeBytes(session, to, into, done, bytes)
        done += bytes.length
      }
      if (done < end) throw lost(fileName)
    } finally {
      if (session.alive) await closeFile(session, from, handle).catch(() => {})
    }
  }

  /** Removes hidden files of this transfer, except the file of one attempt. */
  async function removePartials(session: SftpSession, deliveryStates: readonly Json[], but?: string): Promise<void> {
    const known = [...deliveryStates.map((state) => (state as DeliveryState).partial ?? partials.plain), own]
    for (const name of new Set(known)) {
      if (name !== undefined && name !== but) await removeIfThere(session, name)
    }
    // A directory can be too large to be listed, or the user is not allowed to list it.
    for (let number = 1; number <= attemptsMax; number += 1) {
      const name = partials.numbered(number)
      if (name !== but && !known.includes(name) && !(await removeIfThere(session, name))) return
    }
  }

  /** Says whether there was such a file. */
  const removeIfThere = (session: SftpSession, partial: string): Promise<boolean> =>
    remove(session, at(partial)).then(
      () => true,
      (error: unknown) => {
        if (isRefusal(error)) return !isMissing(error)
        throw error
      },
    )

  async function release(): Promise<void> {
    const { session, handle } = opened ?? {}
    opened = undefined
    if (session?.alive && handle) await closeFile(session, path, handle).catch(() => {})
  }

  const sink: FileSink = {
    partBytesMin: 0,

    async writePart({ offset, bytes }, deliveryStates) {
      try {
        const file = await openAt(offset, deliveryStates)
        await writeBytes(file.session, file.partial, file.handle, offset, bytes)
        await sync(file.session, file.partial, file.handle)
        file.end = offset + bytes.length
        return { end: file.end, partial: own ?? '' } satisfies DeliveryState
      } catch (error) {
        // How much of the part was written is unknown: the next attempt looks.
        await release()
        throw error
      }
    },

    async publish(deliveryStates) {
      const { end } = lastOf(deliveryStates)
      const session = await sessions.open()
      // Another attempt may have published it, with the same rows.
      if ((await sizeOf(session, path)) !== end) {
        const file = await openAt(end, deliveryStates)
        await sync(file.session, file.partial, file.handle)
        await release()
        await removePartials(session, deliveryStates, own)
        await rename(session, file.partial, path).catch(async (error: unknown) => {
          if (!isRefusal(error)) throw error
          const size = await sizeOf(session, path)
          if (size === undefined) throw error
          if (size !== end) throw lost(fileName)
        })
      }
      await release()
      await removePartials(session, deliveryStates)
      own = undefined
    },

    async abort(deliveryStates) {
      await release()
      if (deliveryStates.length > 0) return sink.publish(deliveryStates)
      // The signal may have ended the transfer, and with it the session.
      const session = await openSession({ ...context, signal: AbortSignal.timeout(abortTimeoutMs) }, hostKey)
      try {
        await removePartials(session, deliveryStates)
      } finally {
        session.close()
      }
    },

    async close() {
      const session = opened?.session
      await release()
      // The next attempt needs the confirmed parts, unless an attempt has already published the file.
      if (own !== undefined && session?.alive && (await sizeOf(session, path)) !== undefined) {
        await remove(session, at(own)).catch(() => {})
      }
      sessions.close()
    },
  }
  return sink
}

/** The size of a file. `undefined` if it does not exist. */
const sizeOf = (session: SftpSession, path: string): Promise<number | undefined> =>
  stat(session, path).then(
    ({ size }) => size,
    (error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    },
  )

export const noDirectory = (directory: string): ConnectorError =>
  new ConnectorError(
    'object_not_found',
    `The directory ${directory} is not there on the server; make it, or change the path.`,
  )

const lost = (fileName: string): ConnectorError =>
  new ConnectorError(
    'upload_lost',
    `What was written of ${fileName} is not there any more. Start another transfer, which writes the whole file again.`,
  )
