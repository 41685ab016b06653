import { acceptedOf, type Confirmation } from '@penstock/engine'
import { skipReasons } from '@penstock/wire'

/** The counts of a runner are not trusted. */
export function assertCounts({ read, sent, rejected, removed, skipped, bytes }: Confirmation): void {
  const counts = [read, sent, rejected, removed, ...skipReasons.map((reason) => skipped[reason]), bytes]
  if (
    counts.some((count) => !Number.isSafeInteger(count) || count < 0) ||
    acceptedOf({ read, rejected, skipped }) < removed
  ) {
    throw new Error('A runner confirmed counts that cannot be')
  }
}
