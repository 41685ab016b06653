import type { Chunk, Json, SourceReader } from '@penstock/connector'

/** How the batch is repeated that an earlier transfer announced. */
export type CarriedBatch = {
  /**
   * Opens a reader of the rows after the batch, up to the current end of the source. @param cursor absent if all rows of the
   * batch are gone
   */
  readonly openBehind: (cursor: Json | undefined) => Promise<SourceReader>
}

/** The chunks after a place. If there is a second place, `undefined` separates the chunks before and after it. */
export async function* chunksOf(
  reader: SourceReader,
  from: Json | undefined,
  until: Json | undefined,
  openBehind: (() => Promise<SourceReader>) | undefined,
): AsyncGenerator<Chunk | undefined> {
  if (until !== undefined) {
    yield* reader.read(from, until)
    yield undefined
    if (openBehind) return yield* readAndClose(await openBehind())
  }
  yield* reader.read(until ?? from)
}

async function* readAndClose(reader: SourceReader): AsyncGenerator<Chunk> {
  try {
    yield* reader.read()
  } finally {
    await reader.close()
  }
}
