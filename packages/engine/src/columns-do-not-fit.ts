import type { FieldError } from '@penstock/wire'

/** The error if the mapping of a connection does not match the columns of its source, with every field error. */
export const columnsDoNotFit = (fieldErrors: readonly FieldError[]) =>
  ({
    code: 'columns_do_not_fit',
    message: `The columns of the source do not match the destination. ${fieldErrors
      .map(({ field, message }) => `${field}: ${message}`)
      .join('; ')}`,
    side: 'Destination',
  }) as const
