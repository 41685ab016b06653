import type { FieldError } from '@penstock/wire'

/** The error where the mapping of a connection does not fit the columns of its source, with every error of it. */
export const columnsDoNotFit = (fieldErrors: readonly FieldError[]) =>
  ({
    code: 'columns_do_not_fit',
    message: `The columns of the source do not fit the destination. ${fieldErrors
      .map(({ field, message }) => `${field}: ${message}`)
      .join('; ')}`,
    side: 'Destination',
  }) as const
