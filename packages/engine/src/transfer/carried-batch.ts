import type { Chunk, Json, SourceReader } from '@penstock/connector'

/** How the batch is repeated that an earlier transfer announced. */
export type CarriedBatch = {
  /** Opens a reader of what is behind it, which reads as far as the source has rows by now. @param cursor absent if all of its rows are gone */
  readonly openBehind: (cursor: Json | undefined) => Promise<SourceReader>
}

/** The chunks behind a place. If there is a second place, `undefined` comes between those up to it and those behind it. */
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
