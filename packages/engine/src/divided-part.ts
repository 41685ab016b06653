import type { Division } from '@penstock/connector'
import type { Role, TransferErrorCode } from '@penstock/wire'

/** A part of a source, as the supervisor stores it for the workers. */
export type DividedPart = Division['parts'][number] & {
  /** Of a transfer of many tables: the part is a table, and its `name` the name of the table. */
  readonly table?: ListedTable
}

/** A table that a source listed, as a supervisor sees it. */
export type ListedTable = {
  /** Whether the settings name the table, and not only a pattern. */
  readonly isNamed: boolean
  /** Why the table cannot be moved; absent if it can. */
  readonly refusal?: { readonly code: TransferErrorCode; readonly message: string; readonly side: Role }
}
