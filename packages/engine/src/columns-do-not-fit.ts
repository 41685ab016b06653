import type { Fault } from '@penstock/wire'

/** The error where the mapping of a connection does not fit the columns of its source, with every fault of it. */
export const columnsDoNotFit = (faults: readonly Fault[]) =>
  ({
    code: 'columns_do_not_fit',
    message: `The columns of the source do not fit the destination. ${faults
      .map(({ field, message }) => `${field}: ${message}`)
      .join('; ')}`,
    side: 'Destination',
  }) as const
