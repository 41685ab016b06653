import { type TSchema, Type } from '../type.ts'
import { count, exactly, text, unixSeconds } from './kinds.ts'

const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const size = {
  low: orNull(count('Size, or the lower end of the range that the platform gives; null: not known', 12_000)),
  high: orNull(count('Size, or the upper end of the range; null: not known', 13_000)),
}
const matched = orNull(count('People that the platform found among its own; null: it does not say it', 9_800))

/** The audiences that a connection feeds, as the platform last said; ours. */
export const audiences = exactly(
  {
    measuredTime: orNull(unixSeconds('When the platform was last asked; null: not yet')),
    problem: orNull(text('Why the platform could not be asked the last time', 'Meta does not answer.')),
    found: Type.Array(
      exactly(
        {
          id: text('ID of the audience at the platform', '23850123456780111'),
          name: orNull(text('Name by which the connection or its rows mean it; null: they give its ID', 'Newsletter')),
          ...size,
          received: orNull(count('People that the platform received; null: it does not say it', 15_000)),
          matched,
          status: orNull(text('In the words of the platform; null: it does not say it', 'READY')),
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
  { description: 'Audiences that the connection feeds, as the platform said: it is asked once a day' },
)
