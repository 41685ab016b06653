import type { DestinationContext, DestinationWriter, Rejection } from '@penstock/connector'
import type { JsonObject } from '../platform-api/json.ts'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { type RowBlame, rejectionsOf } from '../platform-api/rows/row-results.ts'
import { codeOf } from './conversion-values.ts'
import { itemNumberOf } from './failed-lines.ts'
import { sendConversions } from './offline-api.ts'
import { offlineConversionOf, type TradeDeskConversion } from './offline-rows.ts'

/** Sends conversions, those of one provider in one request. The Trade Desk numbers, from 1, those that it does not accept. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const refusals = new Refusals('The Trade Desk')
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, offlineConversionOf)
      let bytes = 0
      for (const [provider, conversions] of Map.groupBy(events, ({ event }) => event.provider)) {
        const items = conversions.map(({ event }) => event.item)
        const sent = await refusals.count(() => sendConversions(context, provider, items))
        bytes += sent.bytes
        rejected.push(...rejectionsBy(sent.failed, conversions))
      }
      return { bytes, rejected }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

function rejectionsBy(failed: readonly JsonObject[], sent: readonly RowEvent<TradeDeskConversion>[]): Rejection[] {
  const blamed = failed.map((line): RowBlame => {
    const number = itemNumberOf(line)
    const reason = reasonOf(line)
    return number >= 1 && number <= sent.length ? { at: number - 1, reason } : { count: 1, reason }
  })
  return rejectionsOf(
    sent.map(({ index }) => ({ rows: [index] })),
    blamed,
  )
}

/** Codes of lines, in sentences. */
const reasons: Readonly<Record<string, string>> = {
  MissingOrInvalidTDIDAndImpressionId: 'The Trade Desk finds no identifier of a person or an impression in it',
  MissingOrInvalidTrackingTagId: 'The Trade Desk does not know the tracking tag',
  InvalidMerchantId: 'The Trade Desk does not know the merchant',
  InvalidTimestamp: 'The Trade Desk does not accept the time of the conversion',
  InvalidUserIdTypeOrUserId: 'The Trade Desk does not accept the identifier',
  Unauthorized: 'The Trade Desk does not let this provider report conversions of the tracking tag',
  ChinaPII: 'The Trade Desk takes no personal data from China',
  Uid2Error: 'The Trade Desk cannot use the UID2 or EUID; people may have opted out',
}

function reasonOf({ ErrorCode }: JsonObject): string {
  const code = codeOf(ErrorCode)
  const known = Object.hasOwn(reasons, code) ? reasons[code] : 'The Trade Desk did not accept the conversion'
  return `${known} (${code}).`
}
