import { ConnectorError, type DestinationContext, type DestinationWriter } from '@penstock/connector'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { type RowBlame, rejectionsOf } from '../platform-api/rows/row-results.ts'
import { itemErrorsOf, type MicrosoftError, openMicrosoft } from './microsoft-api.ts'
import {
  conversionDefaults,
  conversionOf,
  type MicrosoftConversionDefaults,
  type OfflineConversion,
} from './offline-conversions.ts'

/**
 * Sends conversions. Microsoft names those that it does not accept by their places, and counts one once that comes again
 * with the same click, goal and time.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const defaults = conversionDefaults(context.settings)
  if (defaults.goal === undefined && !context.columns.includes('conversion_name')) {
    throw new ConnectorError(
      'invalid_setting',
      'Set the conversion goal in the connection, or in the column conversion_name of each row.',
    )
  }
  const microsoft = openMicrosoft(context)
  const refusals = new Refusals('Microsoft Advertising')
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => conversionOf(defaults, row))
      if (events.length === 0) return { bytes: 0, rejected }
      const { bytesSent, errors } = await refusals.count(async () => {
        const answer = await microsoft.askObject({
          method: 'POST',
          path: '/OfflineConversions/Apply',
          body: { OfflineConversions: events.map(({ event }) => event) },
        })
        return { bytesSent: answer.bytesSent, errors: itemErrorsOf(answer.json, events.length) }
      })
      const items = events.map(({ index }) => ({ rows: [index] }))
      return {
        bytes: bytesSent,
        rejected: [
          ...rejected,
          ...rejectionsOf(
            items,
            errors.map((error) => blameOf(defaults, events, error)),
          ),
        ],
      }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

/** A goal of this name does not exist. */
const unknownGoal = 5606
/** The goal was made less than two hours ago. */
const newGoal = 5615

/** What an error says of a row; what it says of the goal that is set for the connection is not a row's error, and thrown. */
function blameOf(
  { goal }: MicrosoftConversionDefaults,
  events: readonly RowEvent<OfflineConversion>[],
  { index = -1, code, shown }: MicrosoftError,
): RowBlame {
  const isOfSetting = goal !== undefined && events[index]?.event.ConversionName === goal
  if (code === unknownGoal) {
    const message = `Microsoft Advertising has no offline conversion goal of the name that the connection gives (${shown}); check it.`
    if (isOfSetting) throw new ConnectorError('invalid_setting', message)
    const reason = `Microsoft Advertising has no offline conversion goal of this name (${shown}).`
    return { at: index, reason, field: 'conversion_name' }
  }
  if (code === newGoal && isOfSetting) {
    const message = `Microsoft Advertising takes conversions two hours after their goal was made (${shown}).`
    throw new ConnectorError('platform_unavailable', message, { afterMs: 30 * 60_000 })
  }
  return { at: index, reason: `Microsoft Advertising does not accept the conversion (${shown}).` }
}
