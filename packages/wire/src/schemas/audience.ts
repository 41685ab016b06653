import { example } from '../examples.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { count, exactly, identifier, text, unixSeconds } from './kinds.ts'

const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const size = {
  low: orNull(count('Size, or the lower end of the range that the platform reports; null: not known', 12_000)),
  high: orNull(count('Size, or the upper end of the range; null: not known', 13_000)),
}
const matched = orNull(count('People that the platform found among its own; null: it does not say it', 9_800))

const received = orNull(count('People that the platform received; null: it does not say it', 15_000))
const asked = {
  measuredTime: orNull(unixSeconds('When the platform was last asked; null: not yet')),
  problem: orNull(text('Why the platform could not be asked the last time', 'Meta does not answer.')),
}
const audience = {
  id: text('ID of the audience at the platform', '23850123456780111'),
  name: orNull(
    text(
      'Name of the audience in the settings of the connection or in its rows; null: they contain its ID',
      'Newsletter',
    ),
  ),
  status: orNull(text('In the words of the platform; null: it does not say it', 'READY')),
}

/** The audiences that a connection feeds, as the platform last reported them. Not in the specification. */
export const audiences = exactly(
  {
    ...asked,
    found: Type.Array(
      exactly(
        {
          ...audience,
          ...size,
          received,
          matched,
          days: Type.Array(
            exactly({ day: text('Day (UTC)', '2026-11-28'), ...size, matched }, { description: 'Day' }),
            {
              description: 'Each day on which the platform was asked, of the last 90, the oldest first',
            },
          ),
        },
        { description: 'Audience' },
      ),
      { description: 'At most 20 audiences' },
    ),
  },
  { description: 'Audiences that the connection feeds, as the platform reported them; it is asked once a day' },
)

const measured = (description: string) =>
  exactly(
    {
      day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'Day, UTC', examples: ['2026-09-18'] }),
      ...size,
      received,
      matched,
    },
    { description },
  )

/** The audiences of a connection in a period. Not in the specification. */
export const AudienceReport = exactly(
  {
    connectionId: identifier('the connection', example.connectionId),
    connectionName: text('Its name', 'Spring customers'),
    accountId: identifier('the sub-account', example.accountId),
    ...asked,
    audiences: Type.Array(
      exactly(
        {
          ...audience,
          first: orNull(
            measured('The first measurement of the audience on an earlier day of the period; null: there is only one'),
          ),
          last: measured('The last measurement in the period'),
        },
        { description: 'Audience in a period' },
      ),
      { description: 'Audiences that were measured on the last measured day of the period, at most 20' },
    ),
  },
  { description: 'Audiences of a connection' },
)
export type AudienceReport = Static<typeof AudienceReport>
