import { count, exactly } from './kinds.ts'

/**
 *  Numbers of records at each stage: the record summary. `read` = `accepted` + `rejected` + skipped records once a transfer has
 *  succeeded.
 */
export const records = exactly(
  {
    read: count('Records read from the source', 120_150),
    sent: count('Records sent to the destination', 120_050),
    accepted: count('Records that the destination accepted, by its own count', 120_000),
    rejected: count('Records that were rejected, by the destination or before they were sent; each has a reason', 150),
  },
  { description: 'Record counts; only confirmed records are counted' },
)

/** Valid records that were read and not sent. */
export const skipped = exactly(
  {
    filtered: count('Records that the filter of the connection skipped', 0),
    unchanged: count('Records that have not changed since they were last accepted', 0),
    duplicates: count('Records with the same key as another record of the transfer', 0),
    noConsent: count('Records without the consent that the connection requires', 0),
    controlGroup: count('Records of the control group', 0),
  },
  { description: 'Valid records that were read and not sent, by reason' },
)
