import { ConnectorError } from '@penstock/connector'
import type { ErrorFact } from '../kit/api.ts'
import type { EventTarget, WhyNot } from '../kit/event-facts.ts'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn } from '../platform-api/json.ts'
import { actionIn } from './conversions.ts'
import { codeIn } from './google-errors.ts'
import { meaningOfCode } from './reporting-errors.ts'

/**
 * Results of adjustments. The codes and their meanings come from `ConversionAdjustmentUploadError` in the published protocol
 * buffers of the Google Ads API v25.
 */

type Adjusted = 'RETRACTION' | 'RESTATEMENT' | 'ENHANCEMENT'

/** The error of an adjustment that Google has recorded already. A batch gets it if it is sent again after a crash. */
const done: Readonly<Record<Adjusted, string>> = {
  RETRACTION: 'CONVERSION_ALREADY_RETRACTED',
  RESTATEMENT: 'RESTATEMENT_ALREADY_EXISTS',
  ENHANCEMENT: 'CONVERSION_ALREADY_ENHANCED',
}

/** Errors of the account, which no other rows would change. */
const ofAccount: Readonly<Record<string, ErrorFact>> = {
  CUSTOMER_NOT_ACCEPTED_CUSTOMER_DATA_TERMS: [
    'terms_not_accepted',
    'Accept the customer data terms in the conversion settings of the Google Ads account.',
  ],
  CUSTOMER_DATA_POLICY_PROHIBITS_ENHANCEMENT: [
    'account_restricted',
    'Policies keep this account from enhanced conversions; ask your contact at Google.',
  ],
}

const wrongType =
  'retractions and restatements need a conversion action for imports from clicks or of a website, enhancements one of a website'

/** Errors of a conversion action. They concern the connection if it names the action. */
const ofAction: Readonly<Record<string, string>> = {
  NO_CONVERSION_ACTION_FOUND: 'the account has no such conversion action',
  INVALID_CONVERSION_ACTION_TYPE: wrongType,
}

const isOlder = 'a later adjustment of the conversion is recorded already'
const isTwice = 'the request has another adjustment of the conversion with the same time'
const forIdentifiers = 'Google does not accept the digests'

/** Errors of one adjustment: the words that follow “Google Ads does not accept the adjustment: ”, and the column to fix. */
const ofRow: Readonly<Record<string, readonly [why: string, field: string]>> = {
  CONVERSION_NOT_FOUND: ['the conversion action has no conversion with this identifier', 'order_id'],
  CONVERSION_ALREADY_RETRACTED: ['the conversion was retracted', 'order_id'],
  CONVERSION_EXPIRED: ['the conversion happened more than 54 days ago', 'order_id'],
  TOO_MANY_ADJUSTMENTS: ['the conversion was adjusted as often as Google allows', 'order_id'],
  MISSING_ORDER_ID_FOR_WEBPAGE: ['conversions of a website need the order ID that the tag sent', 'order_id'],
  ORDER_ID_CONTAINS_PII: ['the order ID contains personal data', 'order_id'],
  DUPLICATE_ENHANCEMENT_IN_REQUEST: ['the request has another enhancement of the conversion', 'order_id'],
  ADJUSTMENT_PRECEDES_CONVERSION: ['it lies before the conversion', 'adjustment_time'],
  MORE_RECENT_RESTATEMENT_FOUND: [isOlder, 'adjustment_time'],
  RESTATEMENT_ALREADY_EXISTS: [isOlder, 'adjustment_time'],
  DUPLICATE_ADJUSTMENT_IN_REQUEST: [isTwice, 'adjustment_time'],
  TOO_RECENT_CONVERSION: ['the conversion is less than 24 hours old; replay the row later', 'order_id'],
  TOO_RECENT_CONVERSION_ACTION: [
    'the conversion action was just created; replay the row after 6 hours',
    'conversion_action_id',
  ],
  CANNOT_RESTATE_CONVERSION_ACTION_THAT_ALWAYS_USES_DEFAULT_CONVERSION_VALUE: [
    'the conversion action always uses its default value',
    'conversion_action_id',
  ],
  CONVERSION_ACTION_NOT_ELIGIBLE_FOR_ENHANCEMENT: [
    'the conversion action takes no enhanced conversions',
    'conversion_action_id',
  ],
  INVALID_USER_IDENTIFIER: [forIdentifiers, 'email'],
  UNSUPPORTED_USER_IDENTIFIER: [forIdentifiers, 'email'],
}

type AdjustmentError = { readonly at: number | undefined; readonly code: string }

/** The errors of a partial failure. `at`: the index of the adjustment, or `undefined` if the error names none. */
function errorsIn(partialFailureError: unknown): AdjustmentError[] {
  return listIn(objectIn(partialFailureError).details)
    .flatMap((detail) => listIn(objectIn(detail).errors))
    .map(objectIn)
    .map(({ errorCode, location }) => {
      const code = Object.values(objectIn(errorCode)).map(codeIn).find(Boolean) ?? 'UNKNOWN'
      const place = listIn(objectIn(location).fieldPathElements)
        .map(objectIn)
        .find(({ fieldName }) => fieldName === 'conversion_adjustments')
      return { at: numberIn(place?.index), code }
    })
}

/**
 * The result of each adjustment. `undefined` if the answer has no results. A request that only validates has no results. An
 * adjustment that Google has recorded already is accepted. Throws errors of the account and of the connection's conversion
 * action.
 */
export function adjustmentResults(
  answer: Answer,
  sent: readonly JsonObject[],
  { settings, isProbe }: Pick<EventTarget, 'settings' | 'isProbe'>,
): readonly (WhyNot | undefined)[] | undefined {
  const { json } = answer
  if (!isSuccess(answer) || !isObject(json)) return undefined
  const { results, partialFailureError } = json
  if (!isProbe && !Array.isArray(results) && partialFailureError === undefined) return undefined
  const errors = errorsIn(partialFailureError)
  for (const { code, at } of errors) {
    assertAccount(code)
    // A check names the conversion action of the connection.
    assertAction(code, { conversionAction: settings.conversionActionId, ...sent[at ?? 0] }, settings.conversionActionId)
  }
  if (isProbe) return []
  const byPlace = Map.groupBy(errors, ({ at }) => at)
  return sent.map(({ adjustmentType }, place) => {
    const isConfirmed = Object.keys(objectIn(listIn(results)[place])).length > 0
    const own = byPlace.get(place) ?? (isConfirmed ? [] : (byPlace.get(undefined) ?? []))
    if (own.length === 0) return isConfirmed ? undefined : 'Google Ads did not confirm the adjustment.'
    const error = own.find(({ code }) => code !== done[adjustmentType as Adjusted])
    return error && whyNot(error.code)
  })
}

function whyNot(code: string): WhyNot {
  const [why, field] = ofRow[code] ?? [ofAction[code], ofAction[code] && 'conversion_action_id']
  const reason = `Google Ads does not accept the adjustment${why ? `: ${why}` : ''} (${code}).`
  return field ? { reason, field } : reason
}

/** Throws the error of an account, and transient errors. The batch is then sent again. */
function assertAccount(code: string): void {
  const fact = ofAccount[code] ?? meaningOfCode(code)
  if (fact === undefined) return
  const [meaning, advice] = typeof fact === 'string' ? [fact] : fact
  throw new ConnectorError(meaning, `Google Ads refuses adjustments (${code}).${advice ? ` ${advice}` : ''}`)
}

/** Throws an error of the conversion action that the connection names. One enhancement among other rows does not show one of its type. */
function assertAction(code: string, { conversionAction, adjustmentType }: JsonObject = {}, named: unknown): void {
  const why = ofAction[code]
  const isOfConnection = actionIn(named) !== undefined && actionIn(conversionAction) === actionIn(named)
  if (why === undefined || !isOfConnection) return
  const isMissing = code === 'NO_CONVERSION_ACTION_FOUND'
  if (!isMissing && adjustmentType === 'ENHANCEMENT') return
  throw new ConnectorError(
    isMissing ? 'object_not_found' : 'invalid_setting',
    `Google Ads does not accept the conversion action of the connection: ${why} (${code}).`,
  )
}
