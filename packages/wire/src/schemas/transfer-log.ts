import { transferLogKinds } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { exactly, oneOf, text, unixSeconds } from './kinds.ts'

/** A line of the log of a transfer. */
export const TransferLogLine = exactly(
  {
    number: Type.Integer({ minimum: 1, description: 'Number of the line, from 1', examples: [3] }),
    attempt: Type.Integer({ minimum: 1, description: 'Number of the attempt', examples: [1] }),
    time: unixSeconds('When it happened'),
    kind: oneOf(transferLogKinds, {
      description:
        'began: a worker claimed the transfer. opened: both sides are open. route: whether the rows pass through a worker, and why, if the destination can load files itself. columns: columns changed. sent: records are sent. confirmed, rejected: the destination confirmed a batch, without and with rejected records. waiting: another try follows. reported: a line of a connector. noted: a note for people, such as rows that are inserted again. dropped: lines that are not kept. ended: the attempt ended',
      examples: ['confirmed'],
    }),
    text: text(
      'The event in a sentence, without values of records',
      'Meta confirmed a batch: 500 read, 500 sent, 490 accepted, 10 rejected. 48,000 bytes, 1.2 s.',
    ),
  },
  { description: 'Line of the log of a transfer' },
)
export type TransferLogLine = Static<typeof TransferLogLine>
