import type { Cell, Row } from '../rows.ts'
import type { RawColumn, RawFormat, RawLayout } from './raw-layout.ts'

/** Rows in one buffer. */
export type RawPiece = {
  readonly bytes: Buffer
  /** The offset of each row of the buffer, and the end of the last one. */
  readonly bounds: Uint32Array
  /** The rows that count: from an index to before another one, in `picked`, or of all rows if that is absent. */
  readonly from: number
  readonly until: number
  /** Indexes of rows in `bounds`, in ascending order. */
  readonly picked?: Uint32Array
  /** Values that were created for rows, by the index of the row in `bounds`. */
  readonly made?: readonly (Row | undefined)[]
}

/** The source of a column: a column of the layout, or an index of the values that were created for each row. */
export type RawSource =
  | { readonly column: number; readonly made?: never }
  | { readonly made: number; readonly column?: never }

/** The index in `bounds` of a row of a piece, from `from` to before `until`. */
export const rowIn = ({ picked }: RawPiece, at: number): number => (picked ? (picked[at] as number) : at)

/**
 * Some rows as a system wrote them: bytes, a layout, and the place where each row begins. `rows` is the same as a list of rows. A
 * row is decoded when it is accessed, so rows that nobody accesses are never decoded. Rows keep the memory of their buffers.
 */
export class RawRows {
  readonly layout: RawLayout
  readonly pieces: readonly RawPiece[]
  readonly length: number
  /** The source of each column; absent if the columns are those of the layout. */
  readonly view: readonly RawSource[] | undefined
  /** Number of all rows up to the end of each piece. */
  readonly #ends: readonly number[]
  #rows: readonly Row[] | undefined

  constructor(layout: RawLayout, pieces: readonly RawPiece[], view?: readonly RawSource[]) {
    let length = 0
    const ends: number[] = []
    for (const { from, until } of pieces) {
      length += until - from
      ends.push(length)
    }
    this.layout = layout
    this.pieces = pieces
    this.view = view
    this.length = length
    this.#ends = ends
  }

  get format(): RawFormat {
    return this.layout.format
  }

  /** The columns of the rows; `undefined` for values that were created. */
  get columns(): readonly (RawColumn | undefined)[] {
    const { columns } = this.layout
    return this.view?.map(({ column = -1 }) => columns[column]) ?? columns
  }

  /** Bytes of the rows. */
  get bytes(): number {
    let bytes = 0
    for (const piece of this.pieces) bytes += bytesOf(piece)
    return bytes
  }

  /** The same rows as a list. Its `slice` is a list of raw rows, too. */
  get rows(): readonly Row[] {
    this.#rows ??= new Proxy<Row[]>([], new Decoding(this))
    return this.#rows
  }

  /** Decodes one row; `undefined` if there is no such row. */
  row(index: number): Row | undefined {
    const cells: Cell[] = []
    if (!(index >= 0 && index < this.length)) return undefined
    const { piece, at } = this.#find(index)
    this.opener([...this.columns.keys()])(piece, rowIn(piece, at), cells)
    return cells
  }

  /**
   * A function that decodes some columns of a row.
   * @param columns their indexes, in ascending order
   * @returns it gets a piece, the index of a row in its `bounds`, and a list that gets the cells by the indexes of their columns
   */
  opener(columns: readonly number[]): (piece: RawPiece, row: number, into: Cell[]) => void {
    const { layout, view } = this
    const openIn = ({ bytes, bounds }: RawPiece, row: number, wanted: readonly number[], into: Cell[]) =>
      layout.open(bytes, bounds[row] as number, bounds[row + 1] as number, wanted, into)
    if (!view) return (piece, row, into) => openIn(piece, row, columns, into)
    const sources = columns.map((at) => ({ at, ...(view[at] as RawSource) }))
    const wanted = [...new Set(sources.flatMap(({ column }) => column ?? []))].sort((a, b) => a - b)
    const found: Cell[] = []
    return (piece, row, into) => {
      if (wanted.length > 0) openIn(piece, row, wanted, found)
      const values = piece.made?.[row]
      for (const { at, column, made } of sources) {
        into[at] = (made === undefined ? found[column] : values?.[made]) ?? null
      }
    }
  }

  /** All rows, with values only in some columns. @param columns their indexes, in ascending order */
  opened(columns: readonly number[]): readonly Row[] {
    const rows: Row[] = []
    const open = this.opener(columns)
    for (const piece of this.pieces) {
      for (let at = piece.from; at < piece.until; at++) {
        const cells: Cell[] = []
        open(piece, rowIn(piece, at), cells)
        rows.push(cells)
      }
    }
    return rows
  }

  /** The same rows with other columns. @param made values that were created for each row, which columns can refer to */
  mapped(view: readonly RawSource[], made: readonly (Row | undefined)[]): RawRows {
    let index = 0
    const pieces = this.pieces.map((piece): RawPiece => {
      const values: (Row | undefined)[] = []
      for (let at = piece.from; at < piece.until; at++) values[rowIn(piece, at)] = made[index++]
      return { ...piece, made: values }
    })
    return new RawRows(this.layout, pieces, view)
  }

  /** All rows, with values only in the columns with these names. */
  openedBy(names: readonly string[]): readonly Row[] {
    const { columns } = this.layout
    return this.opened([...columns.keys()].filter((at) => names.includes((columns[at] as RawColumn).name)))
  }

  /** The rows from an index to before another one. */
  slice(from: number, until: number): RawRows {
    const pieces: RawPiece[] = []
    let before = 0
    for (const piece of this.pieces) {
      const count = piece.until - piece.from
      const begin = Math.max(0, from - before)
      const end = Math.min(count, until - before)
      if (begin < end) pieces.push({ ...piece, from: piece.from + begin, until: piece.from + end })
      before += count
    }
    return new RawRows(this.layout, pieces, this.view)
  }

  /** The rows with these indexes, which ascend. */
  pick(indexes: readonly number[]): RawRows {
    const pieces: RawPiece[] = []
    let next = 0
    let before = 0
    for (const piece of this.pieces) {
      const end = before + piece.until - piece.from
      const begun = next
      while (next < indexes.length && (indexes[next] as number) < end) next++
      const offset = piece.from - before
      const picked = Uint32Array.from({ length: next - begun }, (_, i) =>
        rowIn(piece, (indexes[begun + i] as number) + offset),
      )
      if (picked.length > 0) pieces.push({ ...piece, from: 0, until: picked.length, picked })
      before = end
    }
    return new RawRows(this.layout, pieces, this.view)
  }

  /** All rows of several, which have one layout and the same columns. */
  static join(parts: readonly RawRows[]): RawRows {
    const [first] = parts
    if (!first) throw new Error('There are no raw rows to join')
    return parts.length === 1
      ? first
      : new RawRows(
          first.layout,
          parts.flatMap(({ pieces }) => pieces),
          first.view,
        )
  }

  /** The piece of a row, and its index there. */
  #find(index: number): { piece: RawPiece; at: number } {
    let [low, high] = [0, this.#ends.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ends[middle] as number) > index) high = middle
      else low = middle + 1
    }
    const piece = this.pieces[low] as RawPiece
    return { piece, at: piece.from + index - (this.#ends[low - 1] ?? 0) }
  }
}

function bytesOf(piece: RawPiece): number {
  const { bounds, from, until, picked } = piece
  if (!picked) return (bounds[until] as number) - (bounds[from] as number)
  let bytes = 0
  for (let at = from; at < until; at++) {
    const row = picked[at] as number
    bytes += (bounds[row + 1] as number) - (bounds[row] as number)
  }
  return bytes
}

/** The raw rows of a list; `undefined` if it is a list of values. */
export const rawOf = (rows: readonly Row[]): RawRows | undefined => (rows as { readonly [raw]?: RawRows })[raw]

const raw = Symbol('raw rows')
const index = /^(?:0|[1-9]\d*)$/

/** A list of rows that decodes a row when it is accessed, and cannot be changed. */
class Decoding implements ProxyHandler<Row[]> {
  readonly #raw: RawRows

  constructor(rows: RawRows) {
    this.#raw = rows
  }

  get(target: Row[], key: string | symbol): unknown {
    const rows = this.#raw
    if (key === raw) return rows
    if (key === 'length') return rows.length
    if (key === 'slice') return (from?: number, until?: number) => rows.slice(...within(rows.length, from, until)).rows
    return typeof key === 'string' && index.test(key) ? rows.row(Number(key)) : Reflect.get(target, key)
  }

  /** For the functions of arrays that pass over gaps. */
  has(target: Row[], key: string | symbol): boolean {
    return typeof key === 'string' && index.test(key) ? Number(key) < this.#raw.length : Reflect.has(target, key)
  }

  set(): boolean {
    return false
  }
}

/** The begin and the end of a slice. Either can be counted from the end. */
const within = (length: number, from = 0, until = length): [number, number] => [
  from < 0 ? length + from : from,
  until < 0 ? length + until : until,
]
