import { createHash } from 'node:crypto'
import { limits } from '@penstock/wire'
import type { ActingAccount, FileReceiver, ReceivedFile } from '../call.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import { type LimitSettings, requireUploadCapacity } from '../organizations/limits.ts'
import { refuse } from '../refusal.ts'
import { makeDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { deleteDataKeys } from '../secrets/queries.ts'
import { type MasterKey, seal } from '../secrets/seal.ts'
import { chunkBytes, chunkPlace, cut } from './chunks.ts'
import * as queries from './queries.ts'

type ReceiverDeps = {
  readonly database: Database
  readonly keyring: Keyring
  readonly config: Pick<Config, 'uploads'> & LimitSettings
}

/**
 * Makes what stores the content of files while it arrives, so that a file is never whole in memory, and no transaction is open
 * for as long as a slow client sends. The content is visible to no one before the operation of the upload has completed it,
 * and is purged within an hour if that never happens.
 */
export function createFileReceiver({ database, keyring, config }: ReceiverDeps): FileReceiver {
  const { uploads } = config
  const { bytesMax } = uploads
  const discard = ({ id }: Pick<ReceivedFile, 'id'>): Promise<void> =>
    database.transaction(async (tx) => {
      const gone = await queries.discardUpload.first(tx, { id })
      if (gone) await deleteDataKeys.run(tx, { ids: [gone.dataKeyId] })
    })

  const begin = (account: ActingAccount, sizeBytes: number): Promise<{ id: string; key: MasterKey }> =>
    database.transaction(async (tx) => {
      const accountId = account.id
      const { key, id: dataKeyId } = await makeDataKey(tx, keyring)
      await queries.lockAccount.first(tx, { accountId })
      requireCapacity(
        (await queries.countStored.first(tx, { accountId })) ?? { files: 0, bytes: 0 },
        sizeBytes,
        uploads,
      )
      const id = newIdentifier()
      const { organizationId } = account
      await requireUploadCapacity(tx, config, { organizationId, sizeBytes })
      const minutes = limits.uploadMinutesMax
      await queries.insertUpload.run(tx, { id, organizationId, accountId, sizeBytes, dataKeyId, minutes })
      return { id, key }
    })

  const store = async (id: string, key: MasterKey, stream: AsyncIterable<Uint8Array>): Promise<ReceivedFile> => {
    const hash = createHash('sha256')
    let sizeBytes = 0
    let chunks = 0
    for await (const { bytes, isLast } of cut(bounded(stream, bytesMax), chunkBytes)) {
      const sealed = seal(key, chunkPlace(id, chunks, isLast), bytes)
      const stored = await queries.insertChunk.run(database, { uploadId: id, number: chunks, sealed })
      if (stored === 0) refuse('request_timeout', [{ field: 'body', message: tooSlow }])
      hash.update(bytes)
      sizeBytes += bytes.length
      chunks++
    }
    return { id, sizeBytes, digest: hash.digest('hex'), chunks }
  }

  return {
    bytesMax,
    discard,
    receive: async (account, { stream, declaredBytes }) => {
      const content = await requireContent(stream)
      const { id, key } = await begin(account, declaredBytes ?? bytesMax)
      try {
        return await store(id, key, content)
      } catch (error) {
        // If the database is away, the purge deletes it.
        await discard({ id }).catch(() => {})
        throw error
      }
    },
  }
}

const tooSlow = `took longer than ${limits.uploadMinutesMax} minutes`

/** Waits for the first bytes, so that nothing is stored of an empty file, and passes on all of them. */
async function requireContent(stream: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const parts = stream[Symbol.asyncIterator]()
  let first = await parts.next()
  while (!first.done && first.value.length === 0) first = await parts.next()
  if (first.done)
    return refuse('invalid_request', [{ field: 'body', message: 'is empty: send the content of the file' }])
  const begun = first.value
  return (async function* () {
    yield begun
    yield* { [Symbol.asyncIterator]: () => parts }
  })()
}

/** Passes a stream on, and refuses when it exceeds the size limit of files. */
async function* bounded(stream: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const part of stream) {
    bytes += part.length
    if (bytes > bytesMax) refuseSize(bytesMax)
    yield part
  }
}

/** Refuses with `payload_too_large`. The message contains the size limit. */
function refuseSize(bytesMax: number): never {
  const message = `is larger than ${mebibytes(bytesMax)}, the most for one file; PENSTOCK_UPLOAD_MB sets it`
  refuse('payload_too_large', [{ field: 'body', message }])
}

function requireCapacity(
  stored: { files: number; bytes: number },
  sizeBytes: number,
  { accountBytesMax }: Config['uploads'],
): void {
  const advice = 'delete files that are not needed, or wait until they expire'
  const refuseMore = (message: string) => refuse('quota_exceeded', [{ field: 'uploads', message }])
  if (stored.files >= limits.uploadsMax) refuseMore(`at most ${limits.uploadsMax} files of a sub-account: ${advice}`)
  if (stored.bytes + sizeBytes <= accountBytesMax) return
  refuseMore(
    `the files of a sub-account have at most ${mebibytes(accountBytesMax)}; PENSTOCK_UPLOADS_MB sets it: ${advice}`,
  )
}

const mebibytes = (bytes: number) => `${bytes / 1024 ** 2} MiB`
