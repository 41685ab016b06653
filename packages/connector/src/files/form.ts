import type { ColumnType } from '@penstock/parquet'
import type { FileForm, TableForm } from '../handover.ts'
import { makeStream } from './bytes.ts'
import { isBzip2 } from './bzip2.ts'
import { distinctNames } from './column-names.ts'
import { contentOf } from './content.ts'
import { readHeader, takeSeparatorLine } from './csv-read.ts'
import { encodingOf } from './encoding.ts'
import type { ReadOptions } from './read.ts'
import type { FileStore, StoredFile } from './store.ts'
import { magicBytes, unpackerOf } from './unpack.ts'
import { isZstd } from './zstd-frames.ts'

async function parquetForm(store: FileStore, file: StoredFile, signal: AbortSignal): Promise<TableForm> {
  const { openParquetFile } = await import('./parquet-read.ts')
  const opened = await openParquetFile(store, file, {}, signal)
  try {
    const { columns, types = [], typeNames = [] } = opened
    const declared = columns.map((_, at): ColumnType | null => {
      // A type that other readers do not have, or that cannot be declared, is not text.
      if (typeNames[at] === 'FLOAT16') return { kind: 'bytes' }
      return types[at] ?? (typeNames[at] === 'STRING' ? null : { kind: 'json' })
    })
    return { compression: 'none', delimiter: '', columns, types: declared }
  } finally {
    await opened.close()
  }
}

/** The `ReadOptions` for inspecting a file. */
export type FormOptions = Pick<ReadOptions, 'format' | 'encoding' | 'delimiter' | 'skipLines' | 'columns'>

/**
 * Inspects the header of a CSV file, or the footer of a Parquet file, to check whether a platform that loads it reads the same
 * rows as a worker.
 * @returns the form; or why only a worker can read the file correctly, as the end of a sentence
 * @throws a `ConnectorError`: `invalid_file` if a worker cannot read it either, and errors of the store
 */
export async function formOfFile(
  store: FileStore,
  file: StoredFile,
  options: FormOptions,
  signal: AbortSignal,
): Promise<FileForm> {
  const { name } = file
  if (/\p{Cc}/u.test(name)) return { whyNot: 'the name of a file has control characters' }
  const raw = makeStream(store.read(file, 0), signal)
  try {
    const start = await raw.peek(magicBytes)
    if (isBzip2(start)) return { whyNot: `${name} is compressed with bzip2` }
    const unpack = unpackerOf(file, start)
    const compression = unpack === undefined ? 'none' : isZstd(start) ? 'zstd' : 'gzip'
    const stream = unpack ? makeStream(unpack(raw), signal, raw) : raw
    const content = await contentOf(stream, file, options)
    if (content === 'Parquet') return { form: await parquetForm(store, file, signal) }
    if (content !== 'CSV') return { whyNot: `${name} is ${content}, which only a worker can read exactly` }
    if (options.skipLines) return { whyNot: `the first lines of ${name} are skipped` }
    if (options.columns) return { whyNot: `${name} has no line with names of columns` }
    const encoding = encodingOf(await stream.peek(3), options.encoding)
    if (encoding.name !== 'utf-8') return { whyNot: `${name} is not in UTF-8` }
    stream.take(encoding.markBytes)
    if ((await takeSeparatorLine(stream, encoding)).bytes > 0)
      return { whyNot: `the first line of ${name} names its delimiter` }
    const { dialect, names, bytes } = await readHeader(stream, file, encoding, options.delimiter)
    if (names.length === 0) return { whyNot: `${name} is empty` }
    if (names.length === 1) return { whyNot: `${name} has one column, in which empty lines are rows` }
    if (dialect.newline === '\r') return { whyNot: `the lines of ${name} end with only a carriage return` }
    const header = (await stream.peek(bytes)).toString('utf8')
    if (header.replace(/\r?\n$/, '').includes('\n')) return { whyNot: `the header of ${name} is not its first line` }
    return { form: { compression, delimiter: dialect.delimiter, columns: distinctNames(names) } }
  } finally {
    await raw.close()
  }
}
