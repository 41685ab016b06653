import { exactly, oneOf, text } from './kinds.ts'

/** Which way the rows of a transfer go, in a preview. */
export const TransferRoute = exactly(
  {
    by: oneOf(['worker', 'destination', 'source'] as const, {
      description:
        '`worker`: the rows pass a worker. `destination`: the destination loads the files itself. `source`: the source writes the files itself',
      examples: ['worker'],
    }),
    reason: text(
      'A sentence that says which way the rows go, and why',
      'Rows pass a worker, because the mapping changes values of email.',
    ),
  },
  {
    description:
      'Which way the rows of a transfer would go; absent if there is one way only, if it could not be found out in time, and with `unmapped` and `partial`',
  },
)
