import { ConnectorError, type Json, readWhole } from '@penstock/connector'
import { type FileSink, usualPartBytes } from '@penstock/connector/files'
import { numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { contentHash } from './content-hash.ts'
import { type DropboxClient, failedWith } from './dropbox-client.ts'
import { dropboxPath } from './paths.ts'

/** Bytes of a request at most, by the reference of Dropbox. */
const requestBytesMax = 150 << 20

/** A part: the version of the hidden file that has it, and the upload session that has all parts before it. */
type PartState = {
  readonly rev: string
  readonly hash: string
  readonly offset: number
  readonly bytes: number
  /** Absent of the first part. */
  readonly session?: string
}

export type DropboxTarget = {
  readonly name: string
  /** The name that a failed transfer gives to the confirmed part. */
  readonly abortedName: string
  readonly transferId: string
  /** ISO 8601. */
  readonly startedTime: string
}

/**
 * Writes one file by an upload session. Nothing is visible until the session is finished. A session can only be appended to, so
 * a part in it cannot be overwritten. So a part is first stored as a hidden file, and the next part appends it after it is
 * confirmed. Dropbox verifies every request by a hash. The modification time is the time of the transfer, which identifies a
 * file that was already finished.
 */
export function dropboxSink(client: DropboxClient, target: DropboxTarget): FileSink {
  const { name, abortedName, transferId, startedTime } = target
  const hidden = `${name.slice(0, name.lastIndexOf('/') + 1)}.penstock-${transferId}`
  const modified = new Date(startedTime).toISOString().replace(/\.\d+Z$/, 'Z')
  let latest: { readonly rev: string; readonly bytes: Uint8Array } | undefined

  const bytesOf = async ({ rev, hash }: PartState): Promise<Uint8Array> => {
    if (latest?.rev === rev) return latest.bytes
    try {
      const bytes = await readWhole(await client.download(`rev:${rev}`, 0), 'Dropbox', requestBytesMax)
      if (contentHash(bytes) === hash) return bytes
      throw new ConnectorError('connection_lost', 'A part of the file arrived damaged from Dropbox.')
    } catch (error) {
      throw failedWith(error, 'source_changed') ? partsLost(name) : error
    }
  }

  /** The session with all parts that are confirmed. */
  const sessionWith = async (states: readonly PartState[]): Promise<string | undefined> => {
    const last = states.at(-1)
    if (!last) return undefined
    const bytes = await bytesOf(last)
    const content_hash = last.hash
    if (last.session === undefined) {
      const { json } = await client.send('files/upload_session/start', { close: false, content_hash }, bytes)
      const id = textIn(json.session_id) ?? ''
      if (!/^[\x21-\x7e]{1,500}$/.test(id)) {
        throw new ConnectorError('malformed_response', 'Dropbox answered with something other than an upload session.')
      }
      return id
    }
    const cursor = { session_id: last.session, offset: last.offset }
    const answer = await client.send('files/upload_session/append_v2', { cursor, close: false, content_hash }, bytes, {
      takes: sessionRefused,
    })
    if (answer.status !== 409 || appendedBefore(answer.json, last)) return last.session
    throw partsLost(name)
  }

  const isOurs = async (path: string, states: readonly PartState[]): Promise<boolean> => {
    const bytes = sizeOf(states)
    try {
      const { json } = await client.ask('files/get_metadata', { path: dropboxPath(path) }, { repeatable: true })
      return json['.tag'] === 'file' && json.size === bytes && json.client_modified === modified
    } catch (error) {
      if (failedWith(error, 'source_changed', 'permission_denied')) return false
      throw error
    }
  }

  const finishAs = async (path: string, states: readonly PartState[]): Promise<void> => {
    const commit = { path: dropboxPath(path), mode: 'overwrite', autorename: false, mute: true }
    const last = states.at(-1)
    const bytes = last ? await bytesOf(last) : Buffer.alloc(0)
    const own = { ...commit, client_modified: modified }
    if (last?.session === undefined) {
      await client.send('files/upload', { ...own, content_hash: contentHash(bytes) }, bytes)
      return
    }
    const finish = (offset: number, content: Uint8Array) =>
      client.send(
        'files/upload_session/finish',
        { cursor: { session_id: last.session, offset }, commit: own, content_hash: contentHash(content) },
        content,
        { takes: sessionRefused },
      )
    const answer = await finish(last.offset, bytes)
    if (answer.status !== 409) return
    // Another attempt may have appended the last part, or finished the file.
    if (appendedBefore(answer.json, last) && (await finish(sizeOf(states), Buffer.alloc(0))).status !== 409) return
    if (!(await isOurs(path, states))) throw partsLost(path)
  }

  const removeHidden = async (): Promise<void> => {
    try {
      await client.ask('files/delete_v2', { path: dropboxPath(hidden) }, { repeatable: true })
    } catch (error) {
      if (!failedWith(error, 'source_changed', 'permission_denied')) throw error
    }
  }

  return {
    partBytesMin: usualPartBytes,
    async writePart({ number, offset, bytes }, deliveryStates) {
      if (bytes.length > requestBytesMax) {
        throw new ConnectorError('file_too_large', `A part of ${name} is larger than Dropbox takes at once, 150 MiB.`)
      }
      const session = await sessionWith(deliveryStates.map(partOf))
      const hash = contentHash(bytes)
      const path = dropboxPath(`${hidden}/part-${number % 2}`)
      const args = { path, mode: 'overwrite', autorename: false, mute: true, content_hash: hash }
      const { json } = await client.send('files/upload', args, bytes, { repeatable: true })
      const rev = textIn(json.rev) ?? ''
      if (!/^[0-9a-f]{9,100}$/.test(rev) || json.content_hash !== hash) {
        throw new ConnectorError('malformed_response', 'Dropbox answered with something other than the file.')
      }
      latest = { rev, bytes }
      return {
        rev,
        hash,
        offset,
        bytes: bytes.length,
        ...(session === undefined ? {} : { session }),
      } satisfies PartState
    },
    async publish(deliveryStates) {
      const states = deliveryStates.map(partOf)
      if (!(await isOurs(name, states))) await finishAs(name, states)
      await removeHidden()
    },
    async abort(deliveryStates) {
      const states = deliveryStates.map(partOf)
      const isDone = states.length === 0 || (await isOurs(name, states)) || (await isOurs(abortedName, states))
      if (!isDone) await finishAs(abortedName, states)
      await removeHidden()
    },
  }
}

const partOf = (state: Json): PartState => state as unknown as PartState

const sizeOf = (states: readonly PartState[]): number => states.reduce((sum, { bytes }) => sum + bytes, 0)

/** The session's length differs from the length in the request, or the session is gone or closed. */
const sessionRefused = /^(lookup_failed\/)?(incorrect_offset|not_found|closed)$/

/** Whether a session was refused because it has the part already. */
function appendedBefore(json: unknown, { offset, bytes }: PartState): boolean {
  const error = objectIn(objectIn(json).error)
  const correct = numberIn(error.correct_offset) ?? numberIn(objectIn(error.lookup_failed).correct_offset)
  return correct === offset + bytes
}

const partsLost = (name: string): ConnectorError =>
  new ConnectorError(
    'upload_lost',
    `Parts of ${name} are gone: the upload was ended, or took longer than Dropbox keeps it. Start another transfer.`,
  )
