import { ParquetError } from './parquet-error.ts'

/** The bytes of a file. */
export type ParquetSource = {
  readonly sizeBytes: number
  /** The bytes of a range; fewer at the end of the file. */
  readRange(start: number, end: number): Promise<Buffer>
  /** The same for row groups. They usually follow each other, so a source can keep a stream open between them. */
  readNext(start: number, end: number): Promise<Buffer>
}

/** An error of the source, on its way out. */
class SourceFailure extends Error {}

/** The same source, with errors that `checked` recognizes. */
export function marked(source: ParquetSource): ParquetSource {
  const mark = (cause: unknown) => {
    throw new SourceFailure('the source failed', { cause })
  }
  return {
    sizeBytes: source.sizeBytes,
    readRange: (start, end) => source.readRange(start, end).catch(mark),
    readNext: (start, end) => source.readNext(start, end).catch(mark),
  }
}

/**
 * Does work on the bytes of a file. Every error that it throws is treated as an error of the file, except errors of the source.
 * @throws a `ParquetError`, or the error of the source
 */
export async function checked<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ParquetError) throw error
    if (error instanceof SourceFailure) throw error.cause
    const clause = 'cannot be read as Parquet: it is damaged, incomplete, encrypted or of another format'
    throw new ParquetError('malformed', clause, '', { cause: error })
  }
}
