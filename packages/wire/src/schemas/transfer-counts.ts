import { count, exactly } from './kinds.ts'

/** How many records, at each stage: the record summary. `read` = `accepted` + `rejected` + the skipped ones once a transfer has ended well. */
export const records = exactly(
  {
    read: count('Records read from the source', 120_150),
    sent: count('Records sent to the destination', 120_050),
    accepted: count('Records that the destination accepted, by its own count', 120_000),
    rejected: count('Records that were rejected, by the destination or before they were sent; each has a reason', 150),
  },
  { description: 'Record counts; only what is confirmed is counted' },
)

/** Records that were read and not sent, though nothing is wrong with them. */
export const skipped = exactly(
  {
    filtered: count('Records that the filter of the connection left out', 0),
    unchanged: count('Records that have not changed since they were last accepted', 0),
    duplicates: count('Records whose key another record of the transfer has', 0),
  },
  { description: 'Records that were read and not sent, though nothing is wrong with them, by reason' },
)
