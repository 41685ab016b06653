import { createHash } from 'node:crypto'
import { ConnectorError, type Json } from '@penstock/connector'
import { type FileSink, usualPartBytes } from '@penstock/connector/files'
import { discard } from '../object-stores/answers.ts'
import { failedWith, type GcsClient } from './gcs-client.ts'
import { objectOf, objectPath } from './gcs-objects.ts'

/** Maximum number of objects that Google composes in one request. */
const composedMax = 32

/** A part is sent, and objects put together, within this time. */
const writeTimeoutMs = 300_000
const cleanUpTimeoutMs = 30_000
/** Objects that are deleted at the same time. */
const deletionsMax = 8

/** An object that is to become a part of another one, and which version of it. */
type Piece = { readonly name: string; readonly generation: string }

export type GcsTarget = {
  readonly name: string
  /**
   * The name that a failed transfer gives to the confirmed part. It differs from `name` if other transfers can use that name.
   */
  readonly abortedName: string
  readonly contentType: string
  readonly transferId: string
}

/**
 * Writes one object from parts. Each part is a separate object in another place than the final file, so a part can have any
 * size, and a repeated part replaces itself. At the end Google composes them, 32 at a time, and they are deleted. The object's
 * metadata names the transfer, which identifies work that was already done.
 */
export function gcsCompose(client: GcsClient, { name, abortedName, contentType, transferId }: GcsTarget): FileSink {
  const folder = name.slice(0, name.lastIndexOf('/') + 1)
  const nameOf = (level: number, number: number): string =>
    `${folder}.penstock/${transferId}/${level}-${String(number).padStart(6, '0')}`
  const metadata = { 'penstock-transfer': transferId }
  const create = { method: 'POST', permission: 'storage.objects.create', timeoutMs: writeTimeoutMs } as const

  const compose = async (pieces: readonly Piece[], into: string, labels: object): Promise<Piece> => {
    const body = JSON.stringify({
      sourceObjects: pieces.map(({ name, generation }) => ({ name, generation })),
      destination: labels,
    })
    const headers = { 'content-type': 'application/json' }
    const made = await objectOf(await client.request({ ...create, path: `${objectPath(into)}/compose`, headers, body }))
    return { name: into, generation: made.generation }
  }

  /** Puts pieces together level by level, until no more are left than can become the file. */
  const narrow = async (pieces: readonly Piece[], level: number): Promise<readonly Piece[]> => {
    if (pieces.length <= composedMax) return pieces
    const wider: Piece[] = []
    for (const [number, group] of grouped(pieces).entries()) wider.push(await compose(group, nameOf(level, number), {}))
    return narrow(wider, level + 1)
  }

  const isOurs = async (object: string): Promise<boolean> => {
    try {
      const query = { fields: 'name,size,generation,metadata' }
      const asked = { path: objectPath(object), query, permission: 'storage.objects.get' }
      return (await objectOf(await client.request(asked))).metadata?.['penstock-transfer'] === transferId
    } catch (error) {
      // After a lost response, an account that can create objects but not read them repeats the work.
      if (failedWith(error, 'source_changed', 'permission_denied')) return false
      throw error
    }
  }

  const composeAs = async (object: string, deliveryStates: readonly Json[]): Promise<void> => {
    try {
      const pieces = deliveryStates.map((deliveryState) => deliveryState as Piece)
      await compose(await narrow(pieces, 1), object, { contentType, metadata })
    } catch (error) {
      throw failedWith(error, 'source_changed') ? partsLost(object) : error
    }
  }

  /** The names of all objects that this number of parts has created. */
  const namesOf = (parts: number): string[] => {
    const names: string[] = []
    for (let level = 0, count = parts; ; level++, count = Math.ceil(count / composedMax)) {
      for (let number = 0; number < count; number++) names.push(nameOf(level, number))
      if (count <= composedMax) return names
    }
  }

  return {
    partBytesMin: usualPartBytes,
    async writePart({ number, bytes }) {
      const part = nameOf(0, number)
      const query = { uploadType: 'media', name: part, fields: 'name,size,generation,md5Hash' }
      const headers = { 'content-type': 'application/octet-stream' }
      const made = await objectOf(
        await client.request({ ...create, upload: true, path: '/o', query, headers, body: bytes }),
      )
      if (made.md5Hash !== undefined && made.md5Hash !== createHash('md5').update(bytes).digest('base64')) {
        throw new ConnectorError('connection_lost', 'A part of the file arrived damaged.')
      }
      return { name: part, generation: made.generation } satisfies Piece
    },
    async publish(deliveryStates) {
      if (!(await isOurs(name))) await composeAs(name, deliveryStates)
      await remove(client, namesOf(deliveryStates.length))
    },
    async abort(deliveryStates) {
      const signal = AbortSignal.timeout(cleanUpTimeoutMs)
      const isDone = deliveryStates.length === 0 || (await isOurs(name)) || (await isOurs(abortedName))
      if (!isDone) await composeAs(abortedName, deliveryStates)
      // One more part may have been written whose delivery state was lost.
      await remove(client, namesOf(deliveryStates.length + 1), signal).catch(() => {})
    },
  }
}

function grouped(pieces: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = []
  for (let at = 0; at < pieces.length; at += composedMax) groups.push(pieces.slice(at, at + composedMax))
  return groups
}

/** Deletes leftover objects. An account that is not allowed to delete leaves them. The check reports this beforehand. */
async function remove(client: GcsClient, names: readonly string[], signal?: AbortSignal): Promise<void> {
  const left = [...names]
  const work = async () => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      try {
        const permission = 'storage.objects.delete'
        const asked = { method: 'DELETE', path: objectPath(name), permission, ...(signal ? { signal } : {}) } as const
        await discard(await client.request(asked))
      } catch (error) {
        if (!failedWith(error, 'source_changed', 'permission_denied')) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: deletionsMax }, work))
}

const partsLost = (name: string): ConnectorError =>
  new ConnectorError(
    'upload_lost',
    `Parts of ${name} are gone, perhaps by a rule of the bucket. Start another transfer.`,
  )
