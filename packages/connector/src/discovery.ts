import type { DiscoveredKind } from '@penstock/wire/rules'
import type { ConnectorContext } from './context.ts'
import type { Cell } from './rows.ts'

/**
 * Lists values of a setting from the platform: tables, files, ad accounts, audiences. A role declares it next to its fields, by
 * the key of the setting, and as `columns` for the columns of the table or file in the settings.
 *
 * It changes nothing, and throws a `ConnectorError`: `invalid_setting` if another setting is needed first. A cursor is
 * untrusted input, so check it.
 */
export type Discover = (context: DiscoveryContext) => Promise<DiscoveredPage>

export type DiscoveryContext = ConnectorContext & {
  /** Returns only names that contain this text, in any letter case; empty: all. */
  readonly search: string
  /** Begins after the page that returned this as `next`. */
  readonly cursor: string | undefined
  /** Maximum items of a page. */
  readonly size: number
  /** Whether the caller can read records, so that columns include values. */
  readonly withSamples: boolean
}

export type DiscoveredPage = {
  readonly items: readonly Discovered[]
  /** Cursor of the next page, at most 1,000 characters; absent on the last page. */
  readonly next?: string | undefined
}

/** One value that the setting can have. */
export type Discovered = {
  readonly value: string
  /** The displayed name, if it is not the value, such as the name of an ad account. */
  readonly label?: string | undefined
  readonly kind: DiscoveredKind
  /** The type of a column, in the words of the platform. */
  readonly type?: string | undefined
  /** Whether a column is part of the key. */
  readonly key?: boolean
  /** Whether a row needs a value for the column. */
  readonly required?: boolean
  /** Approximate number of rows. */
  readonly rows?: number
  /** A few unchanged values of a column, if the context has `withSamples`; the engine shortens them. */
  readonly samples?: readonly Cell[]
}
