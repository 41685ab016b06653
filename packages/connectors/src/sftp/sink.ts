import { type ConnectorContext, ConnectorError, type Json } from '@penstock/connector'
import type { FileSink } from '@penstock/connector/files'
import type { HostKey } from './host-key.ts'
import { isMissing } from './problems.ts'
import { attributesOf, closeFile, openFile, remove, rename, stat, sync, truncate, writeBytes } from './requests.ts'
import { makeSessions, openSession, type SftpSession } from './session.ts'
import { join } from './store.ts'

const abortTimeoutMs = 15_000

/** Where the file ends with a part. */
type DeliveryState = { readonly end: number }
const endOf = (deliveryStates: readonly Json[]): number =>
  (deliveryStates.at(-1) as DeliveryState | undefined)?.end ?? 0

/** A file that is open for writing, in the session that opened it. */
type Opened = { readonly session: SftpSession; readonly handle: Buffer; end: number }

/** A file of a server, written under a hidden name beside it and renamed when it is whole. */
export function openSftpSink(
  context: ConnectorContext,
  directory: string,
  fileName: string,
  hostKey: HostKey,
): FileSink {
  const sessions = makeSessions(context, hostKey)
  const path = join(directory, fileName)
  const partial = join(directory, `.${fileName}.partial`)
  let opened: Opened | undefined

  async function openAt(offset: number): Promise<Opened> {
    const session = await sessions.open()
    if (opened?.session !== session) {
      const handle = await openPartial(session, offset)
      const { size } = await attributesOf(session, partial, handle)
      opened = { session, handle, end: size }
    }
    if (opened.end < offset) throw lost(fileName)
    if (opened.end > offset) await truncate(session, partial, opened.handle, offset)
    opened.end = offset
    return opened
  }

  const openPartial = (session: SftpSession, offset: number): Promise<Buffer> =>
    openFile(session, partial, offset === 0 ? 'w' : 'r+').catch((error: unknown) => {
      if (!isMissing(error)) throw error
      throw offset === 0 ? noDirectory(directory) : lost(fileName)
    })

  async function release(): Promise<void> {
    const { session, handle } = opened ?? {}
    opened = undefined
    if (session?.alive && handle) await closeFile(session, partial, handle).catch(() => {})
  }

  const sink: FileSink = {
    partBytesMin: 0,

    async writePart({ offset, bytes }) {
      try {
        const file = await openAt(offset)
        await writeBytes(file.session, partial, file.handle, offset, bytes)
        await sync(file.session, partial, file.handle)
        file.end = offset + bytes.length
        return { end: file.end } satisfies DeliveryState
      } catch (error) {
        // How much of the part was written is unknown: the next attempt looks.
        await release()
        throw error
      }
    },

    async publish(deliveryStates) {
      const end = endOf(deliveryStates)
      const session = await sessions.open()
      const found = await sizeOf(session, partial)
      if (found === undefined && (await sizeOf(session, path)) === end) return
      if (found === undefined && end > 0) throw lost(fileName)
      const file = await openAt(end)
      await sync(file.session, partial, file.handle)
      await release()
      await rename(session, partial, path)
    },

    async abort(deliveryStates) {
      await release()
      if (deliveryStates.length > 0) return sink.publish(deliveryStates)
      // The signal may be what ended the transfer, and has ended its session then.
      const session = await openSession({ ...context, signal: AbortSignal.timeout(abortTimeoutMs) }, hostKey)
      try {
        await remove(session, partial)
      } finally {
        session.close()
      }
    },

    async close() {
      await release()
      sessions.close()
    },
  }
  return sink
}

/** How large a file is; `undefined` where there is none. */
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
