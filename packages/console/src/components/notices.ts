/** The notices that are shown now, the oldest first: results, and failures without a place of their own on the page. */

export type Notice = {
  readonly id: number
  readonly kind: 'done' | 'problem' | 'failure'
  readonly title?: string
  readonly message: string
  /** A button, which also closes the notice. */
  readonly next?: { readonly label: string; readonly act: () => void }
  /** Time after which the notice closes, in milliseconds, without the time under the pointer or the focus; undefined: never. */
  readonly closesAfterMs?: number
}

/** Older ones give way. */
const noticesMax = 5
let notices: readonly Notice[] = []
let made = 0
const listeners = new Set<() => void>()

function change(next: readonly Notice[]): void {
  notices = next
  for (const listener of listeners) listener()
}

/** For `useSyncExternalStore`. */
export const noticeStore = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  read: () => notices,
}

/** Shows a notice below the others. Results that offer nothing more to do give way to it, so that they do not pile up. */
export function showNotice(notice: Omit<Notice, 'id'>): void {
  made += 1
  const others = notices.filter(({ kind, next }) => kind !== 'done' || next !== undefined)
  change([...others, { ...notice, id: made }].slice(-noticesMax))
}

/** Closes a notice; one that is closed already stays so. */
export function closeNotice(id: number): void {
  if (notices.some((notice) => notice.id === id)) change(notices.filter((notice) => notice.id !== id))
}
