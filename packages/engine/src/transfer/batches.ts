import { createHash } from 'node:crypto'
import type { Batch, Chunk, Json, Row, SourceReader } from '@penstock/connector'

/**
 * Filling batches from what a source gives. Records are numbered from 1 in the order of the source, and a batch covers
 * an unbroken run of them: those that go to the destination, and those that were found unfit on the way.
 */

/** Where reading goes on: behind `skip` records of what the source gives after `at`. */
export type Position = { readonly at: Json | null; readonly skip: number; readonly bytes: number }
export const beginning: Position = { at: null, skip: 0, bytes: 0 }

/** Turns the records of a chunk into what the destination wants; unfit ones have a fault instead. */
export type Mapper = (chunk: Pick<Chunk, 'rows' | 'faults'>) => {
  rows: readonly Row[]
  faults: ReadonlyMap<number, RowFault>
}
export type RowFault = { readonly field?: string; readonly reason: string }

/** A record that is not sent. */
export type Unfit = { readonly number: number; readonly raw: Row; readonly fault: RowFault }

/** One batch, and all that must be known of the records that it covers. */
export type Load = {
  /** Number of the first record that it covers, and how many it covers. */
  readonly first: number
  readonly covered: number
  readonly rows: readonly Row[]
  /** For each of `rows`: its number, and the record as the source gave it. */
  readonly numbers: readonly number[]
  readonly raws: readonly Row[]
  readonly unfit: readonly Unfit[]
  /** The chunks that it was filled from, in order; all but the first begin inside it. */
  readonly segments: readonly Segment[]
}

type Segment = {
  /** The position before the chunk, in the source's own words. */
  readonly before: Json | null
  readonly after: Json
  /** Number of its first record, and how many it has. */
  readonly first: number
  readonly count: number
  /** Bytes of the source up to its end. */
  readonly bytes: number
  readonly marker: Json | undefined
}

export type Bounds = { readonly rowsMax: number; readonly bytesMax: number }

/**
 * What a load takes in memory, about; one is delivered while the next one is filled. A packed source is small, and rows of
 * many short cells take much more than their text, so that what a destination takes at once is no bound for it.
 */
const memoryBytesMax = 20 << 20

/**
 * Reads on from a position and fills batches up to their bounds, one ahead of the one that is asked for.
 * @param pending how many records the first batch must cover: that of a batch that may have been delivered already
 */
export async function* fillLoads(
  reader: SourceReader,
  from: Position,
  firstNumber: number,
  mapper: (chunk: Chunk) => Mapper | Promise<Mapper>,
  bounds: () => Bounds,
  pending: number | null,
): AsyncGenerator<Load, void, undefined> {
  let load = emptyLoad(firstNumber)
  let exactly = pending
  let before = from.at
  let number = firstNumber - from.skip
  let skip = from.skip
  let bytes = from.bytes
  for await (const chunk of reader.read(from.at ?? undefined)) {
    const map = await mapper(chunk)
    bytes += skip > 0 ? 0 : chunk.bytes
    const segment: Segment = {
      before,
      after: chunk.position,
      first: number,
      count: chunk.rows.length,
      bytes,
      marker: chunk.marker,
    }
    before = chunk.position
    number += chunk.rows.length
    if (skip >= chunk.rows.length) {
      skip -= chunk.rows.length
      continue
    }
    const mapped = map(chunk)
    const bytesEach = Math.max(1, chunk.bytes / chunk.rows.length)
    const memoryEach = memoryBytesOf(chunk.rows)
    let at = skip
    skip = 0
    while (at < chunk.rows.length) {
      const { rowsMax, bytesMax } = bounds()
      const room = () =>
        exactly === null
          ? Math.floor(
              Math.min(
                rowsMax - load.covered,
                (bytesMax - load.bytes) / bytesEach,
                (memoryBytesMax - load.memoryBytes) / memoryEach,
              ),
            )
          : exactly - load.covered
      const until = Math.min(chunk.rows.length, at + Math.max(1, room()))
      load.take(chunk, mapped, segment, at, until)
      load.bytes += (until - at) * bytesEach
      load.memoryBytes += (until - at) * memoryEach
      at = until
      if (room() < 1) {
        yield load.done()
        exactly = null
        load = emptyLoad(segment.first + at)
      }
    }
  }
  if (load.covered > 0) yield load.done()
}

function emptyLoad(first: number) {
  const rows: Row[] = []
  const numbers: number[] = []
  const raws: Row[] = []
  const unfit: Unfit[] = []
  const segments: Segment[] = []
  return {
    covered: 0,
    bytes: 0,
    memoryBytes: 0,
    take(chunk: Chunk, mapped: ReturnType<Mapper>, segment: Segment, from: number, until: number) {
      segments.push(segment)
      for (let i = from; i < until; i++) {
        const raw = chunk.rows[i] as Row
        const broken = chunk.faults?.get(i)
        const fault = broken === undefined ? mapped.faults.get(i) : { reason: broken }
        if (fault) unfit.push({ number: segment.first + i, raw, fault })
        else {
          rows.push(mapped.rows[i] as Row)
          numbers.push(segment.first + i)
          raws.push(raw)
        }
      }
      this.covered += until - from
    },
    done(): Load {
      return { first, covered: this.covered, rows, numbers, raws, unfit, segments }
    },
  }
}

/** What a cell takes in memory beside its text. */
const cellBytes = 24
const sampleRows = 32

/** What each of some rows takes in memory, about, judged by a few of them. */
function memoryBytesOf(rows: readonly Row[]): number {
  const step = Math.ceil(rows.length / sampleRows)
  let sampled = 0
  let bytes = 0
  for (let at = 0; at < rows.length; at += step) {
    sampled++
    for (const cell of rows[at] ?? []) bytes += cellBytes + (typeof cell === 'string' ? cell.length : 0)
  }
  return Math.max(1, bytes / sampled)
}

/** The batch of a load: the same key for the same records of the same transfer, in every attempt. */
export function batchOf({ first, covered, rows }: Load, transferId: string, columns: readonly string[]): Batch {
  const key = createHash('sha256').update(`${transferId} ${first} ${covered}`).digest('hex').slice(0, 32)
  return { key, columns, rows, firstRow: first }
}

/** Where reading goes on behind a load, how much of the source that is, and the marker of the last whole chunk. */
export function endOf({ first, covered, segments }: Load): { position: Position; marker: Json | undefined } {
  const next = first + covered
  const last = segments.findLast((segment) => segment.first < next)
  if (!last) return { position: beginning, marker: undefined }
  const isWhole = next === last.first + last.count
  const position = isWhole
    ? { at: last.after, skip: 0, bytes: last.bytes }
    : { at: last.before, skip: next - last.first, bytes: last.bytes }
  const marker = segments.findLast((segment) => segment.first + segment.count <= next)?.marker
  return { position, marker }
}

/** A load cut in two, where its batch has more than one row. */
export function halve(load: Load): [Load, Load] {
  const middle = load.rows.length >> 1
  const border = load.numbers[middle] as number
  const end = load.first + load.covered
  const part = (from: number, until: number, rowsFrom: number, rowsUntil: number): Load => ({
    first: from,
    covered: until - from,
    rows: load.rows.slice(rowsFrom, rowsUntil),
    numbers: load.numbers.slice(rowsFrom, rowsUntil),
    raws: load.raws.slice(rowsFrom, rowsUntil),
    unfit: load.unfit.filter(({ number }) => number >= from && number < until),
    segments: load.segments.filter((segment) => segment.first < until && segment.first + segment.count > from),
  })
  return [part(load.first, border, 0, middle), part(border, end, middle, load.rows.length)]
}
