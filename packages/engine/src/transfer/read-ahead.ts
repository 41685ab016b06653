/**
 * The same items, of which up to `ahead` are made while one is worked on. They are made one after the other, and none any
 * more once nobody wants them; a failure to make one is met when its turn comes.
 */
export async function* readAhead<Item>(
  items: AsyncGenerator<Item, void, undefined>,
  ahead: number,
): AsyncGenerator<Item, void, undefined> {
  const made: Promise<IteratorResult<Item, void>>[] = []
  let wanted = true
  const make = (): void => {
    const next = (made.at(-1) ?? Promise.resolve()).then(() => (wanted ? items.next() : items.return()))
    next.catch(() => {})
    made.push(next)
  }
  try {
    for (let count = 0; count < ahead; count += 1) make()
    for (;;) {
      const item = await made.shift()
      if (!item || item.done) return
      make()
      yield item.value
    }
  } finally {
    wanted = false
    // Behind what is being made: what makes them ends.
    make()
  }
}
