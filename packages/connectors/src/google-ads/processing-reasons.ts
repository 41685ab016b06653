import type { ConnectorErrorCode } from '@penstock/connector'

/**
 * Why members or events that Google took in were not used later on: `ProcessingErrorReason` of its published
 * processing_errors.proto.
 */

/** As sentences, to follow “… and then did not use them: ”. */
export const processingReasons: Readonly<Record<string, string>> = {
  PROCESSING_ERROR_REASON_DENIED_CONSENT:
    'the person, or the account by default, denied the use of personal data for ads',
  PROCESSING_ERROR_REASON_NO_CONSENT: 'the account did not consent to the use of its data by Google’s services',
  PROCESSING_ERROR_REASON_UNKNOWN_CONSENT: 'whether the person consented is not known; send the consent with the rows',
  PROCESSING_ERROR_REASON_INTERNAL_ERROR: 'Google failed; send the rows again',
  PROCESSING_ERROR_REASON_INVALID_FORMAT: 'something in them has the wrong form',
  PROCESSING_ERROR_REASON_INVALID_MOBILE_ID_FORMAT: 'the advertising ID has the wrong form',
  PROCESSING_ERROR_REASON_EVENT_TOO_OLD: 'they are older than the conversion action counts',
  PROCESSING_ERROR_REASON_INVALID_EVENT: 'they are not valid',
  PROCESSING_ERROR_REASON_INVALID_GCLID: 'the click ID (gclid) cannot be read',
  PROCESSING_ERROR_REASON_INVALID_GBRAID: 'the click ID (gbraid) cannot be read',
  PROCESSING_ERROR_REASON_INVALID_WBRAID: 'the click ID (wbraid) cannot be read',
  PROCESSING_ERROR_REASON_INVALID_AD_IDENTIFIERS: 'the click ID cannot be read',
  PROCESSING_ERROR_REASON_INVALID_CLICK: 'the click cannot be attributed, such as one that came from no campaign',
  PROCESSING_ERROR_REASON_CLICK_NOT_FOUND: 'no click was found that fits them',
  PROCESSING_ERROR_REASON_TOO_RECENT_CLICK: 'the click is too recent; send them again after six hours',
  PROCESSING_ERROR_REASON_CONVERSION_PRECEDES_CLICK: 'they happened before the click',
  PROCESSING_ERROR_REASON_INVALID_OPERATING_ACCOUNT_FOR_CLICK: 'the click was made in another Google Ads account',
  PROCESSING_ERROR_OPERATING_ACCOUNT_MISMATCH_FOR_AD_IDENTIFIER: 'the click was made in another Google Ads account',
  PROCESSING_ERROR_REASON_ONE_PER_CLICK_CONVERSION_ACTION_NOT_PERMITTED_WITH_BRAID:
    'the conversion action counts one conversion a click, which does not go with gbraid and wbraid',
  PROCESSING_ERROR_REASON_ORIGINAL_CONVERSIONS_NOT_FOUND: 'the conversions that they belong to were not found',
  PROCESSING_ERROR_REASON_USER_ID_NOT_FOUND: 'the person was not found',
  PROCESSING_ERROR_REASON_INSUFFICIENT_TRANSACTIONS: 'there are fewer of them than Google asks for',
  PROCESSING_ERROR_REASON_INSUFFICIENT_MATCHED_TRANSACTIONS: 'too few of them were matched to a person',
  PROCESSING_ERROR_REASON_INVALID_CUSTOM_VARIABLE: 'a custom variable is not valid',
  PROCESSING_ERROR_REASON_CUSTOM_VARIABLE_NOT_ENABLED: 'a custom variable is not enabled in the account',
  PROCESSING_ERROR_REASON_INVALID_MERCHANT_ID: 'the Merchant Center ID is not a number',
}

/** Reasons for items that Google already has, such as items of a batch that is repeated after a crash. */
export const duplicateReasons: ReadonlySet<string> = new Set([
  'PROCESSING_ERROR_REASON_DUPLICATE_TRANSACTION_ID',
  'PROCESSING_ERROR_REASON_DUPLICATE_GCLID',
])

/** Reasons for which a whole request fails because of the account: a code of ours, and what to do about it. */
export const accountProcessingReasons: Readonly<Record<string, readonly [code: ConnectorErrorCode, todo: string]>> = {
  PROCESSING_ERROR_REASON_DESTINATION_ACCOUNT_ENHANCED_CONVERSIONS_TERMS_NOT_SIGNED: [
    'terms_not_accepted',
    'accept the terms for enhanced conversions in the Google Ads account first',
  ],
  PROCESSING_ERROR_REASON_EXTERNAL_ATTRIBUTION_DATA_MISSING: [
    'invalid_setting',
    'the conversion action is one with external attribution, which takes no such events; name another one',
  ],
}
