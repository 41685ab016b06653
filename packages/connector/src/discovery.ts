import type { DiscoveredKind } from '@penstock/wire/rules'
import type { ConnectorContext } from './context.ts'
import type { Cell } from './rows.ts'

/**
 * How the values of a setting are found at the platform: tables, files, ad accounts, audiences. A role declares it beside its
 * fields, by the key of the setting, and as `columns` for the columns of the table or file in the settings.
 *
 * It changes nothing, and throws a `ConnectorError`: `invalid_setting` if another setting is needed first. A cursor can come from
 * anyone, so it is checked as any input.
 */
export type Discover = (context: DiscoveryContext) => Promise<DiscoveredPage>

export type DiscoveryContext = ConnectorContext & {
  /** Keep what contains this text, in any letter case; empty: all. */
  readonly search: string
  /** Begin behind the page that had this as `next`. */
  readonly cursor: string | undefined
  /** The most items of a page. */
  readonly size: number
  /** Whether the caller may read records, so that columns come with values. */
  readonly withSamples: boolean
}

export type DiscoveredPage = {
  readonly items: readonly Discovered[]
  /** There is more: ask for it with this cursor, a text of at most 1,000 characters. */
  readonly next?: string | undefined
}

/** One value that the setting can have. */
export type Discovered = {
  readonly value: string
  /** The name that people use, if it is not the value: that of an ad account. */
  readonly label?: string | undefined
  readonly kind: DiscoveredKind
  /** The type of a column, in the words of the platform. */
  readonly type?: string | undefined
  /** Whether a column is part of the key. */
  readonly key?: boolean
  /** Whether a row needs a value for the column. */
  readonly required?: boolean
  /** About how many rows there are. */
  readonly rows?: number
  /** A few values of a column as they are, if the context has `withSamples`; the engine shortens them. */
  readonly samples?: readonly Cell[]
}
