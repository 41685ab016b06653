import { exactly, oneOf, text } from './kinds.ts'

/** The route of the rows of a transfer, in a preview. */
export const TransferRoute = exactly(
  {
    by: oneOf(['worker', 'destination', 'source'] as const, {
      description:
        '`worker`: the rows pass through a worker. `destination`: the destination loads the files itself. `source`: the source writes the files itself',
      examples: ['worker'],
    }),
    reason: text(
      'The way of the rows, and the reason, in a sentence',
      'Rows pass a worker, because the mapping changes values of email.',
    ),
  },
  {
    description:
      'The route of the rows of a transfer; absent if there is only one route, if it could not be determined in time, and with `unmapped` and `partial`',
  },
)
