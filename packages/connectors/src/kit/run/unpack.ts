import { pipeline, Readable } from 'node:stream'
import { createGunzip, createInflateRaw } from 'node:zlib'
import { ConnectorError } from '@penstock/connector'

/** A file that unpacks to more than this can unpack to at most `ratio` times its size. */
const freeBytes = 64 << 20
const ratio = 300
const chunkSize = 256 << 10

/**
 * Unpacks the bytes of a file if it begins like gzip or ZIP (of a ZIP only the first file). It works piece by piece, so that a
 * large file takes no more memory than a small one. Throws `malformed_response` if it is damaged or ends early, and
 * `response_too_large` if it unpacks to far more than its size.
 */
export async function* unpacked(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const source = bytes[Symbol.asyncIterator]()
  try {
    let packed = 0
    const head = await atLeast(Buffer.alloc(0), 4)
    const kind = head.subarray(0, 2).toString('latin1')
    if (kind === '\x1f\x8b') return yield* unzip(createGunzip({ chunkSize }), rest(head))
    if (kind !== 'PK') return yield* rest(head)
    const local = await atLeast(head, 30)
    const [flags, method] = [local.readUInt16LE(6), local.readUInt16LE(8)]
    const behind = 30 + local.readUInt16LE(26) + local.readUInt16LE(28)
    const isPlain = method === 0 && (flags & 8) === 0
    if (local.readUInt32LE(0) !== 0x04034b50 || (flags & 1) !== 0 || !(isPlain || method === 8)) throw damaged(name)
    const body = rest((await atLeast(local, behind)).subarray(behind))
    if (isPlain) return yield* first(body, local.readUInt32LE(18))
    return yield* unzip(createInflateRaw({ chunkSize }), body)

    async function atLeast(begun: Buffer, wanted: number): Promise<Buffer> {
      let all = begun
      while (all.length < wanted) {
        const next = await source.next()
        if (next.done) {
          if (begun.length > 0) throw damaged(name)
          break
        }
        packed += next.value.length
        all = Buffer.concat([all, next.value])
      }
      return all
    }
    async function* rest(begun: Buffer): AsyncGenerator<Uint8Array> {
      yield begun
      for (let next = await source.next(); !next.done; next = await source.next()) {
        packed += next.value.length
        yield next.value
      }
    }
    async function* unzip(stream: ReturnType<typeof createGunzip>, from: AsyncIterable<Uint8Array>) {
      // Without the callback, an error would end the process. The reader of the stream gets the error.
      pipeline(Readable.from(from, { objectMode: false, highWaterMark: chunkSize }), stream, () => {})
      let sum = 0
      try {
        for await (const piece of stream as AsyncIterable<Uint8Array>) {
          sum += piece.length
          if (sum > Math.max(freeBytes, packed * ratio)) throw tooLarge(name)
          yield piece
        }
      } catch (error) {
        if (!/^Z_/.test((error as NodeJS.ErrnoException).code ?? '')) throw error
        throw damaged(name, error)
      }
    }
    async function* first(from: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
      let left = size
      for await (const piece of from) {
        yield piece.subarray(0, left)
        left -= Math.min(left, piece.length)
        if (left === 0) return
      }
      throw damaged(name)
    }
  } finally {
    await source.return?.()
  }
}

const damaged = (name: string, cause?: unknown) =>
  new ConnectorError('malformed_response', `${name} is damaged or ends early.`, { cause })
const tooLarge = (name: string) =>
  new ConnectorError('response_too_large', `${name} unpacks to more than ${ratio} times its size.`)
