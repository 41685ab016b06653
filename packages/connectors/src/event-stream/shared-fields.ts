import { boolean, number, select, text } from '@penstock/connector'
import { errorOfAddresses, errorOfOrigins } from './settings.ts'

/** Fields of everything that is kept as a stream. */

/** How long records are kept. @param days by default */
export const retentionFields = (days: number) => ({
  retentionDays: number({
    keepsState: 'transport',
    label: 'Days to keep',
    description: 'Days after which they are removed, up to the limit of your operator',
    min: 1,
    max: 365,
    default: days,
  }),
  retentionMb: number({
    keepsState: 'transport',
    label: 'Size to keep (MiB)',
    description: 'Above this size the oldest ones are removed, up to the limit of your operator',
    min: 1,
    max: 1_048_576,
    default: 1_024,
  }),
})

/** @param what is kept: `events` */
export const keepReadField = (what: string) =>
  boolean({
    keepsState: 'transport',
    label: `Keep read ${what}`,
    description: `Whether ${what} that all connections have read stay until the days are over`,
    default: true,
  })

/** The start of the first transfer. @param what is read: `events`; and its singular */
export const startFields = (what: string, one: string) => ({
  startAt: select({
    asked: true,
    label: 'Start at',
    description: `Begin at the oldest kept ${one}, after the newest ${one}, or at a time`,
    options: ['oldest', 'newest', 'time'],
    labels: { oldest: `Oldest kept ${one}`, newest: `New ${what} only`, time: 'Time' },
    default: 'oldest',
  }),
  startTime: text({
    label: 'Start time',
    description: `Begin with ${what} of this time or later: 2026-01-31T12:00:00Z`,
    required: true,
    when: { startAt: 'time' },
  }),
})

/** Senders that a stream accepts. */
export const receivingFields = {
  receive: boolean({
    keepsState: 'transport',
    label: 'Receive events',
    description: 'Whether the stream accepts events. Otherwise senders get 404',
    default: true,
  }),
  origins: text({
    keepsState: 'transport',
    label: 'Web origins',
    description: 'Origins of pages that may send, such as https://shop.example.com. By default all',
    wrong: errorOfOrigins,
  }),
  addresses: text({
    keepsState: 'transport',
    label: 'IP ranges',
    description: 'Addresses or ranges that may send, such as 192.0.2.0/24. By default all',
    wrong: errorOfAddresses,
  }),
}

/** How events become columns. */
export const shapeField = select({
  keepsState: 'onward',
  label: 'Columns',
  description: 'A column for each key of the events, the whole event as JSON, or both',
  options: ['keys', 'event', 'both'],
  labels: { keys: 'A column for each key', event: 'The whole event', both: 'Both' },
  default: 'keys',
})

/** The second secret of a sender that signs. */
export const nextSigningSecret = {
  keepsState: 'transport',
  label: 'Next signing secret',
  description: 'A second secret that is also valid, while you rotate the first one',
} as const

/** The text of the handshake of Meta. */
export const verifyToken = {
  keepsState: 'transport',
  label: 'Verify token',
  description: 'A text of your choice that you also enter at Meta',
} as const
