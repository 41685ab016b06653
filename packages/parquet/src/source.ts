import { ParquetError } from './parquet-error.ts'

/** Where the bytes of a file come from. */
export type ParquetSource = {
  readonly sizeBytes: number
  /** The bytes of a range; fewer if the file ends before. */
  readRange(start: number, end: number): Promise<Buffer>
  /** The same for row groups. They mostly follow each other, so a source may keep a stream open from one to the next. */
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
 * Does work on the bytes of a file. Anything that is thrown in it is about the file, except errors of the source.
 * @throws a `ParquetError`, or what the source threw
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
