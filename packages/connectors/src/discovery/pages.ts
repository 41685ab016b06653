import { ConnectorError, type Discovered, type DiscoveredPage, type DiscoveryContext } from '@penstock/connector'

/** Pages of a discovery. A cursor is the number of entries before the page. */

/** More entries of one list are not looked at. */
const entriesMax = 100_000

/** The entries to ask for: one more than the page has, to find out whether there is more. */
export type Window = { readonly offset: number; readonly limit: number }

/** A cursor came from the caller, and no page had it. */
export const strangeCursor = (): ConnectorError =>
  new ConnectorError('invalid_setting', 'The cursor is not one of an earlier page: begin without one.')

/** Reads the cursor of a discovery. Throws `invalid_setting` if the cursor was not created here. */
export function windowOf({ cursor = '0', size }: DiscoveryContext): Window {
  const offset = Number(cursor)
  if (!/^\d{1,6}$/.test(cursor) || offset > entriesMax) {
    throw strangeCursor()
  }
  return { offset, limit: size + 1 }
}

/** The page of the entries that were found in a window. */
export const pageIn = (found: readonly Discovered[], { offset, limit }: Window): DiscoveredPage => ({
  items: found.slice(0, limit - 1),
  next: found.length < limit ? undefined : String(offset + limit - 1),
})

/** A page of a list that is completely known, such as the columns of a table: the entries that contain the search. */
export function pageOfAll(found: readonly Discovered[], context: DiscoveryContext): DiscoveredPage {
  const window = windowOf(context)
  const search = context.search.toLowerCase()
  const kept = found
    .slice(0, entriesMax)
    .filter(({ value, label = '' }) => value.toLowerCase().includes(search) || label.toLowerCase().includes(search))
  return pageIn(kept.slice(window.offset, window.offset + window.limit), window)
}
