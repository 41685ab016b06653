import type { Row } from '@penstock/connector'
import type { OpenedSide } from './opened-side.ts'

/** Has a destination deliver a few rows, and shows the requests and their answers. */
export type TryJob = {
  readonly kind: 'try'
  readonly connector: OpenedSide
  /** Whether some of its secrets were entered and are not saved, so that none can be replaced. */
  readonly entered: boolean
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  /** ISO 8601. */
  readonly startedTime: string
  readonly deadlineMs: number
}
