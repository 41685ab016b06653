import { ConnectorError, type DiscoveredPage } from '@penstock/connector'

/** A page of names. Throws `invalid_setting` for a cursor that is none. */
export function pageAt(
  names: readonly string[],
  cursor: string | undefined,
  size: number,
  itemOf: (name: string) => DiscoveredPage['items'][number],
): DiscoveredPage {
  const from = cursor === undefined ? 0 : Number(cursor)
  if (!Number.isSafeInteger(from) || from < 0) {
    throw new ConnectorError('invalid_setting', 'The cursor is not one of this list; begin without it.')
  }
  const next = from + size < names.length ? String(from + size) : undefined
  return { items: names.slice(from, from + size).map(itemOf), next }
}
