import { Encodings, PageTypes } from 'hyparquet/src/constants.js'
import { mebibytes, parquetBounds } from './bounds.ts'
import { cellsOf, type noText } from './cells.ts'
import { unpackPage } from './codecs.ts'
import {
  deltaReader,
  lengthReader,
  plainReader,
  prefixReader,
  runReader,
  splitReader,
  type TakeValues,
} from './encodings.ts'
import type { ColumnChunk } from './footer.ts'
import type { Meter } from './meter.ts'
import { ParquetError } from './parquet-error.ts'
import type { Cell } from './rows.ts'
import type { Element, SchemaNode } from './schema.ts'
import { EndOfBytes, numberOf, readStruct, structOf, type ThriftStruct, TooManyValues } from './thrift.ts'

/** The bytes of a column in a row group, from its beginning on. */
export type ChunkBytes = {
  /** The next bytes, that many unless the column ends before. */
  peek(bytes: number): Promise<Buffer>
  take(bytes: number): void
}

/** Values of a page with their levels. A place of a nested column can be without a value. */
export type PageValues = {
  /** How deep each value is in optional and repeated columns; undefined if the column has no levels. */
  readonly definitions: Uint32Array | undefined
  /** The level of the list that each value continues; undefined if the column has no lists. */
  readonly repeats: Uint32Array | undefined
  /** The values that are there. */
  readonly cells: readonly (Cell | typeof noText)[]
}

/** The values of a leaf column in a row group, page by page. */
export type LeafReader = {
  /** Number of values with levels that are left in the current page; 0: the next page must be opened. */
  readonly left: number
  /** Opens the next page that has values. @returns false after the last page */
  open(): Promise<boolean>
  /** Returns the next values of the page, at most the number that is left in it. */
  take(count: number): PageValues
  /** Skips the next values of the page. */
  skip(count: number): void
}

/** Approximate memory of an entry of a dictionary, in addition to its bytes. */
const entryBytes = 48

type Page = {
  left: number
  readonly definitions: ((count: number) => Uint32Array) | undefined
  readonly repeats: ((count: number) => Uint32Array) | undefined
  readonly take: (count: number) => readonly (Cell | typeof noText)[]
  readonly heldBytes: number
}

/** Header of a data page, of either version. */
type DataHeader = { readonly values: number; readonly encoding: string }

export function openLeaf(leaf: SchemaNode, chunk: ColumnChunk, bytes: ChunkBytes, meter: Meter): LeafReader {
  const element = leaf.element as Element
  const cellOf = cellsOf(element)
  const { codec } = chunk
  let dictionary: readonly (Cell | typeof noText)[] | undefined
  let page: Page | undefined
  let valuesLeft = chunk.values

  const readDictionary = (fields: ThriftStruct, packed: Buffer, size: number): void => {
    const header = structOf(fields[7])
    const count = numberOf(header?.[1])
    if (dictionary || count < 0) throw new Error('a second dictionary')
    const stored = unpackPage(packed, size, codec)
    // Checked before entries are created, because empty entries take memory, too.
    const least = element.type === 'BOOLEAN' ? 1 / 8 : element.type === 'BYTE_ARRAY' ? 4 : 1
    if (count * least > size) throw new Error('a dictionary with fewer entries than it claims')
    meter.hold(size + count * entryBytes)
    const take = plainReader(stored, 0, element)
    const entries: (Cell | typeof noText)[] = []
    for (let left = count; left > 0; left -= partValues) {
      entries.push(...mapped(take(Math.min(left, partValues)), cellOf))
    }
    dictionary = entries
  }
  const takeOf = (body: Buffer, from: number, { values, encoding }: DataHeader) => {
    if (encoding === 'RLE_DICTIONARY' || encoding === 'PLAIN_DICTIONARY') {
      // A page with only null values can lack the byte for the width.
      let indexes: ((count: number) => Uint32Array) | undefined
      return (count: number) => {
        if (count === 0) return []
        indexes ??= runReader(body, from + 1, body.readUInt8(from))
        const entries = dictionary ?? []
        return mapped(indexes(count), (index) => {
          if (index >= entries.length) throw new Error('an entry that the dictionary does not have')
          return entries[index] as Cell | typeof noText
        })
      }
    }
    let take: TakeValues | undefined
    return (count: number) => {
      if (count === 0) return []
      take ??= valuesOf(body, from, values, encoding, element, meter)
      return mapped(take(count), cellOf)
    }
  }
  const levels = (body: Buffer, from: number, end: number, most: number) =>
    most > 0 ? runReader(body.subarray(from, end), 0, 32 - Math.clz32(most)) : undefined

  const readPage = (fields: ThriftStruct, packed: Buffer, size: number): Page => {
    const header = structOf(fields[5])
    if (!header) throw new Error('a page without a header')
    const data = { values: numberOf(header[1]), encoding: Encodings[numberOf(header[2])] ?? '' }
    const body = unpackPage(packed, size, codec)
    let at = 0
    const levelsWithLength = (most: number) => {
      if (most === 0) return undefined
      const end = at + 4 + body.readUInt32LE(at)
      if (end > body.length) throw new Error('levels that are longer than their page')
      const reader = levels(body, at + 4, end, most)
      at = end
      return reader
    }
    const repeats = levelsWithLength(leaf.repeats)
    const definitions = levelsWithLength(leaf.definition)
    return { left: data.values, repeats, definitions, take: takeOf(body, at, data), heldBytes: heldOf(size, data) }
  }
  const readSecondPage = (fields: ThriftStruct, packed: Buffer, size: number): Page => {
    const header = structOf(fields[8])
    if (!header) throw new Error('a page without a header')
    const data = { values: numberOf(header[1]), encoding: Encodings[numberOf(header[4])] ?? '' }
    const definitionBytes = numberOf(header[5])
    const repeatBytes = numberOf(header[6])
    const levelBytes = definitionBytes + repeatBytes
    if (definitionBytes < 0 || repeatBytes < 0 || levelBytes > packed.length || levelBytes > size) {
      throw new Error('levels that are longer than their page')
    }
    const stored = packed.subarray(levelBytes)
    const body = header[7] === false ? stored : unpackPage(stored, size - levelBytes, codec)
    return {
      left: data.values,
      repeats: levels(packed, 0, repeatBytes, leaf.repeats),
      definitions: levels(packed, repeatBytes, levelBytes, leaf.definition),
      take: takeOf(body, 0, data),
      heldBytes: heldOf(size, data),
    }
  }

  return {
    get left() {
      return page?.left ?? 0
    },
    async open() {
      if (page) meter.hold(-page.heldBytes)
      page = undefined
      while (valuesLeft > 0) {
        const fields = await readHeader(bytes)
        if (!fields) return false
        const size = numberOf(fields[2])
        const packedSize = numberOf(fields[3])
        if (size < 0 || packedSize < 0) throw new Error('a page of fewer bytes than none')
        if (size > parquetBounds.pageBytes || packedSize > parquetBounds.pageBytes) throw pageTooLarge()
        const packed = await bytes.peek(packedSize)
        if (packed.length < packedSize) throw new Error('a page that is not whole')
        bytes.take(packedSize)
        meter.unpack(size)
        const type = PageTypes[numberOf(fields[1])]
        if (type === 'DICTIONARY_PAGE') {
          readDictionary(fields, packed, size)
        } else if (type === 'DATA_PAGE' || type === 'DATA_PAGE_V2') {
          meter.hold(size)
          const opened: Page = (type === 'DATA_PAGE' ? readPage : readSecondPage)(fields, packed, size)
          if (opened.left < 0 || opened.left > valuesLeft) throw new Error('more values than the footer claims')
          meter.hold(opened.heldBytes - size)
          valuesLeft -= opened.left
          page = opened
          if (opened.left > 0) return true
          meter.hold(-opened.heldBytes)
          page = undefined
        }
      }
      return false
    },
    take(count) {
      if (!page || count > page.left) throw new Error('more values than there are')
      page.left -= count
      const repeats = page.repeats?.(count)
      const definitions = page.definitions?.(count)
      let there = count
      if (definitions) {
        there = 0
        for (const level of definitions) {
          if (level === leaf.definition) there += 1
          else if (level > leaf.definition) throw new Error('a level that there is not')
        }
      }
      return { repeats, definitions, cells: page.take(there) }
    },
    skip(count) {
      for (let left = count; left > 0; left -= partValues) this.take(Math.min(left, partValues))
    },
  }
}

/** Values that are read together, so that their stored form takes little memory. */
const partValues = 4096

/** Memory of a page: its bytes, and for some encodings the lengths of all its values. */
const heldOf = (size: number, { values, encoding }: DataHeader): number =>
  encoding.endsWith('BYTE_ARRAY') ? size + 8 * values : size

/** Maps values; faster than `Array.from`. */
function mapped<Value, Made>(values: ArrayLike<Value>, make: (value: Value) => Made): Made[] {
  const { length } = values
  const all: Made[] = new Array(length)
  for (let index = 0; index < length; index += 1) all[index] = make(values[index] as Value)
  return all
}

function valuesOf(
  body: Buffer,
  from: number,
  values: number,
  encoding: string,
  element: Element,
  meter: Meter,
): TakeValues {
  switch (encoding) {
    case 'PLAIN':
      return plainReader(body, from, element)
    case 'RLE': {
      if (element.type !== 'BOOLEAN') throw new Error(`runs of ${element.type}`)
      const take = runReader(body.subarray(from + 4, from + 4 + body.readUInt32LE(from)), 0, 1)
      return (count) => Array.from(take(count), (value) => value === 1)
    }
    case 'DELTA_BINARY_PACKED':
      return deltaReader(body, from, element)
    case 'BYTE_STREAM_SPLIT':
      return splitReader(body, from, element)
    case 'DELTA_LENGTH_BYTE_ARRAY':
      if (element.type !== 'BYTE_ARRAY') throw new Error(`lengths of ${element.type}`)
      return lengthReader(body, from, values)
    case 'DELTA_BYTE_ARRAY':
      if (element.type !== 'BYTE_ARRAY' && element.type !== 'FIXED_LEN_BYTE_ARRAY') throw new Error('no bytes')
      return prefixReader(body, from, values, meter.expand)
    default:
      throw new Error(`the encoding ${encoding}`)
  }
}

/** Reads the header of the next page; undefined at the end of the column. */
async function readHeader(bytes: ChunkBytes): Promise<ThriftStruct | undefined> {
  const { pageHeaderBytes } = parquetBounds
  for (let wanted = 256; ; wanted = Math.min(4 * wanted, pageHeaderBytes)) {
    const start = await bytes.peek(wanted)
    if (start.length === 0) return undefined
    try {
      const { struct, end } = readStruct(start, 0, 10_000)
      bytes.take(end)
      return struct
    } catch (error) {
      if (error instanceof TooManyValues) throw pageTooLarge()
      if (!(error instanceof EndOfBytes) || start.length < wanted) throw error
      if (wanted === pageHeaderBytes) throw pageTooLarge()
    }
  }
}

const pageTooLarge = () => {
  const { pageBytes, pageHeaderBytes } = parquetBounds
  const clause = `has a page of more than ${mebibytes(pageBytes)}, or with a header of more than ${mebibytes(pageHeaderBytes)}`
  return new ParquetError('too_large', clause, 'Write it with smaller pages.')
}
