import { ConnectorError } from '../connector-error.ts'
import type { Json, Row } from '../rows.ts'
import type { Chunk, SourceReader } from '../source.ts'
import type { FileSink, FileStore, StoredFile } from './store.ts'

/** File stores in memory that follow the contract of stores; for the tests of the formats. */

/**
 * Files by name. The streams return pieces of this number of bytes. Replacing the content of a file creates another version of
 * it.
 */
export type MemoryStore = FileStore & {
  readonly contents: Map<string, Buffer>
  /** Every read: which file, and from which byte. */
  readonly reads: { readonly name: string; readonly fromByte: number }[]
  /** Number of streams that are not released. */
  open: number
}

export function memoryStore(files: Readonly<Record<string, Buffer | string>>, pieceBytes = 1 << 16): MemoryStore {
  const contents = new Map(Object.entries(files).map(([name, content]) => [name, Buffer.from(content)]))
  const versionOf = (content: Buffer) => `${content.length}-${content.toString('base64').slice(0, 40)}`
  const store: MemoryStore = {
    contents,
    reads: [],
    open: 0,
    async list() {
      return [...contents].map(([name, content]) => ({ name, sizeBytes: content.length, version: versionOf(content) }))
    },
    async *read({ name, version }: StoredFile, fromByte) {
      store.reads.push({ name, fromByte })
      const content = contents.get(name)
      if (!content || versionOf(content) !== version) {
        throw new ConnectorError('source_changed', `${name} has changed.`)
      }
      store.open += 1
      try {
        for (let at = fromByte; at < content.length; at += pieceBytes) yield content.subarray(at, at + pieceBytes)
      } finally {
        store.open -= 1
      }
    },
  }
  return store
}

/** A file being written; `failing` makes the next write fail after half of its bytes. */
export type MemorySink = FileSink & {
  readonly parts: Buffer[]
  published: Buffer | undefined
  failing: boolean
}

export function memorySink(partBytesMin = 0): MemorySink {
  const sink: MemorySink = {
    partBytesMin,
    parts: [],
    published: undefined,
    failing: false,
    async writePart({ number, offset, bytes }, deliveryStates) {
      const before = sink.parts.slice(0, number)
      const end = before.reduce((sum, { length }) => sum + length, 0)
      if (number !== deliveryStates.length || before.length !== number || offset !== end || bytes.length === 0) {
        throw new Error(`part ${number} at ${offset} does not follow ${before.length} parts of ${end} bytes`)
      }
      const whole = Buffer.from(bytes)
      sink.parts[number] = sink.failing ? whole.subarray(0, whole.length >> 1) : whole
      if (sink.failing) throw new ConnectorError('connection_lost', 'The connection was interrupted.')
      return { number }
    },
    async publish(deliveryStates) {
      const parts = sink.parts.slice(0, deliveryStates.length)
      const tooSmall = parts.slice(0, -1).some(({ length }) => length < partBytesMin)
      if (tooSmall) throw new Error('a part is too small')
      sink.published = Buffer.concat(parts)
    },
    async abort(deliveryStates) {
      if (deliveryStates.length > 0) await sink.publish(deliveryStates)
      sink.parts.length = 0
    },
  }
  return sink
}

/** All rows of a reader, from the beginning or after a stored checkpoint. */
export async function readAll(reader: SourceReader, after?: Json): Promise<{ chunks: Chunk[]; rows: Row[] }> {
  const chunks: Chunk[] = []
  for await (const chunk of reader.read(after === undefined ? undefined : JSON.parse(JSON.stringify(after)))) {
    chunks.push(chunk)
  }
  return { chunks, rows: chunks.flatMap(({ rows }) => rows) }
}
