import type { Purpose } from '@penstock/wire'

/** A purpose of a sub-account, as it was when the transfer was requested. */
export type ConsentPurpose = Pick<Purpose, 'name' | 'signals' | 'uses'>
