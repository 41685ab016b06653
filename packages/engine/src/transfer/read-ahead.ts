/** Approximate amount of the source that is read ahead: enough to map while a part is written to a disk. */
const aheadBytes = 1536 << 10
const batchesAheadMax = 4

/** Several small batches or one large batch are read ahead, so that memory use stays constant. */
export const batchesAhead = ({ bytesMax }: { readonly bytesMax: number }): number =>
  Math.max(1, Math.min(batchesAheadMax, Math.floor(aheadBytes / bytesMax)))

/** An item, with access to the next one. */
export type Ahead<Item> = {
  readonly item: Item
  /** The next item, if it already exists. */
  following(): Item | undefined
}

type Made<Item> = { readonly result: Promise<IteratorResult<Item, void>>; item?: Item }

/**
 * The same items, up to `ahead` of which are created in advance. They are created one after the other, and none after the last
 * item that is needed. If creating an item fails, the error is thrown when the item is read.
 */
export async function* readAhead<Item>(
  items: AsyncGenerator<Item, void, undefined>,
  ahead: number,
): AsyncGenerator<Ahead<Item>, void, undefined> {
  const queue: Made<Item>[] = []
  let wanted = true
  const make = (): void => {
    const before = queue.at(-1)?.result ?? Promise.resolve()
    const made: Made<Item> = { result: before.then(() => (wanted ? items.next() : items.return())) }
    made.result.then(
      ({ value }) => {
        if (value !== undefined) made.item = value
      },
      () => {},
    )
    queue.push(made)
  }
  try {
    for (let count = 0; count < ahead; count += 1) make()
    for (;;) {
      const next = await queue.shift()?.result
      if (!next || next.done) return
      make()
      yield { item: next.value, following: () => queue[0]?.item }
    }
  } finally {
    wanted = false
    // Ends the producer after the item that it is creating.
    make()
  }
}
