import type { ConnectorContext, ConnectorDefinition, Fields, Json, Records } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import type { Read } from '../platform-api/rows/events.ts'
import type { Auth, RestApi } from './api.ts'

/**
 * A destination that answers a value for each row and keeps nothing, as a statement of facts. The answers are recorded as outcomes
 * (docs/outcomes.md), so a connection must record them.
 */
export type LookupDestination<Item> = Omit<ConnectorDefinition, 'destination' | 'source' | 'check' | 'actions'> & {
  readonly platformApi: RestApi | ((context: Pick<ConnectorContext, 'secrets'>) => RestApi)
  readonly auth: Auth
  readonly settings: Fields
  readonly batch: { readonly rowsMax: number; readonly bytesMax: number }
  readonly columns: Records
  /** Reads the item that a row asks about. */
  readonly item: (row: BatchRow) => Read<Item>
  /** Opens the function that asks about items in one request, and returns a result for each, in their order. */
  readonly open: (client: PlatformClient, context: ConnectorContext) => Promise<LookUp<Item>> | LookUp<Item>
  /** An item of no one, with which the credentials are tried. */
  readonly probe: Item
}

export type LookUp<Item> = (
  items: readonly Item[],
) => Promise<{ readonly bytes: number; readonly results: readonly LookedUp[] }>

/** The answer about an item, or why there is no answer. */
export type LookedUp = { readonly answer: Json } | { readonly wrong: string }
