import type { ConnectionRule } from '@penstock/wire'

/** The rules that a connection had when its transfer was requested. */
export type TransferRules = {
  readonly list: readonly ConnectionRule[]
  /** The median of the rows read by earlier transfers, and the number of these transfers; `null` if no rule needs it. */
  readonly usual: { readonly rows: number; readonly transfers: number } | null
}
