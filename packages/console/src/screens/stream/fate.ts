import type { StreamEvent, StreamEvents } from '@penstock/wire'

type Consumer = NonNullable<StreamEvents['consumers']>[number]

/** The fate of a stored event at a connection. */
export type Fate = {
  readonly consumer: Consumer
  /** `passed`: the connection began behind it, or its transfer is no longer listed. */
  readonly state: 'waiting' | 'delivered' | 'passed'
  readonly transferId: string | undefined
}

/** The fate of a stored event at each connection that reads the stream. */
export const fatesOf = ({ number }: StreamEvent, consumers: readonly Consumer[]): Fate[] =>
  consumers.map((consumer) => {
    const at = number ?? 0
    // Transfers are listed newest first: of several that read it, after a reset, the newest one counts.
    const transferId = consumer.transfers.find(({ after, last }) => after < at && at <= last)?.id
    const isRead = at <= (consumer.readNumber ?? 0)
    const state = transferId !== undefined ? 'delivered' : isRead ? 'passed' : 'waiting'
    return { consumer, state, transferId }
  })
