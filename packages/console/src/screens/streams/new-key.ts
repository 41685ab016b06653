/** A write key that was just created, for the page of its stream: in memory alone, and shown once. */
let created: { readonly streamId: string; readonly key: string } | undefined

export const keepNewKey = (streamId: string, key: string): void => {
  created = { streamId, key }
}

/** The key of this stream, if it was created on the page before. A page may read it in a render that is thrown away. */
export const newKeyOf = (streamId: string): string | undefined =>
  created?.streamId === streamId ? created.key : undefined

/** Called once a page shows the key. */
export const forgetNewKey = (): void => {
  created = undefined
}
