/** About as much of the source as is read ahead: what can be mapped while a part is put on a disk. */
const aheadBytes = 1536 << 10
const batchesAheadMax = 4

/** Of small batches several are read ahead, of large ones one, so that memory stays flat. */
export const batchesAhead = ({ bytesMax }: { readonly bytesMax: number }): number =>
  Math.max(1, Math.min(batchesAheadMax, Math.floor(aheadBytes / bytesMax)))

/** An item, and a look at the one that follows it. */
export type Ahead<Item> = {
  readonly item: Item
  /** The next item, if it is made already. */
  following(): Item | undefined
}

type Made<Item> = { readonly result: Promise<IteratorResult<Item, void>>; item?: Item }

/**
 * The same items, of which up to `ahead` are made while one is worked on. They are made one after the other, and none
 * after the last one that is wanted. A failure to make one is thrown when it is taken.
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
    // Behind what is being made: what makes them ends.
    make()
  }
}
