import { example } from '../examples.ts'
import { type Static, Type } from '../type.ts'
import { count, exactly, identifier, text } from './kinds.ts'

const volume = {
  read: count('Records read from the source; a replay reads none of them again', 40_150),
  accepted: count('Records that the destination accepted', 40_000),
  rejected: count('Records that were rejected; a record that a replay rejects again counts once', 150),
  replayed: count('Accepted records that had been rejected before and were sent again', 20),
  bytes: count('Bytes sent', 16_000_000),
}
const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'Day, UTC', examples: ['2026-09-18'] })
const month = Type.String({ pattern: '^\\d{4}-\\d{2}$', description: 'Month, UTC', examples: ['2026-09'] })
const periods = {
  total: exactly(volume, { description: 'Total of the requested days' }),
  days: Type.Array(exactly({ day, ...volume }, { description: 'A day with volume' }), {
    description: 'Days with volume, in order',
  }),
  months: Type.Array(exactly({ month, ...volume }, { description: 'A month with volume, within the requested days' }), {
    description: 'Months with volume, in order',
  }),
}

/** The volume of a sub-account. */
export const AccountReport = exactly(
  {
    accountId: identifier('the sub-account', example.accountId),
    accountName: text('Its name', 'Acme Outdoor'),
    ...periods,
  },
  { description: 'Volume of a sub-account' },
)
export type AccountReport = Static<typeof AccountReport>

/** The volume of a connection. */
export const ConnectionReport = exactly(
  {
    connectionId: identifier('the connection', example.connectionId),
    connectionName: text('Its name', 'Spring customers'),
    accountId: identifier('the sub-account', example.accountId),
    ...periods,
  },
  { description: 'Volume of a connection' },
)
export type ConnectionReport = Static<typeof ConnectionReport>
