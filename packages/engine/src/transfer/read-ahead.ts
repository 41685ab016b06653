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
