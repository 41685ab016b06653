import type { ConnectorErrorCode } from '@penstock/connector'

/**
 * The meanings of the reasons of Google's Data Manager API: `ErrorReason` of its published error.proto. Reasons that
 * are in no table here concern Google Analytics, licences or links, which no request of these connectors uses.
 */

/** A code of ours, and what to do about it, to follow “Google refuses the request (REASON): ”. */
type Refusal = readonly [code: ConnectorErrorCode, todo: string]

const account: Refusal = [
  'invalid_setting',
  'check the account type, the advertiser ID and the manager account ID of the connection',
]
const listType: Refusal = ['invalid_setting', 'the list holds another kind of identifier than the connection sends']
const listName: Refusal = ['invalid_setting', 'give the list another name']
const locked: Refusal = ['account_restricted', 'This list cannot be changed; name another one']
const listOwner: Refusal = [
  'permission_denied',
  'another account owns the list; name a list of this account, or sign in through the account that owns it',
]
const admission: Refusal = ['account_restricted', 'ask your contact at Google to admit the account to customer lists']

/** Reasons that do not depend on the rows: something must be changed at Google or in the settings. */
export const refusals: Readonly<Record<string, Refusal>> = {
  ACCESS_TOKEN_SCOPE_INSUFFICIENT: [
    'permission_denied',
    'the refresh token was granted another scope; sign in at Google again with the scope that the connector names, and save the new token',
  ],
  SERVICE_DISABLED: [
    'permission_denied',
    'its API is not enabled in the Google Cloud project of the OAuth client; enable it there',
  ],
  TERMS_AND_CONDITIONS_NOT_SIGNED: ['terms_not_accepted', 'accept its terms for customer data in the account first'],
  ADVERTISER_TOS_NOT_ACCEPTED: ['terms_not_accepted', 'accept the terms of the data partner in the account first'],
  EU_POLITICAL_ADVERTISING_DECLARATION_REQUIRED: [
    'terms_not_accepted',
    'declare in Google Ads for every campaign of the account whether it has EU political ads, then start the transfer again',
  ],
  NOT_ALLOWLISTED: admission,
  ADVERTISER_NOT_ALLOWLISTED_FOR_UPLOADED_DATA: admission,
  ADVERTISER_NOT_ALLOWLISTED_FOR_THIRD_PARTY_PARTNER_DATA: admission,
  DATA_PARTNER_NOT_ALLOWLISTED_FOR_THIRD_PARTY_PARTNER_DATA: admission,
  CUSTOMER_NOT_ALLOWLISTED_FOR_COMMERCE_AUDIENCE: admission,
  ACCOUNT_INELIGIBLE_FOR_STORE_SALES: admission,
  THIRD_PARTY_USER_DATA_NOT_ALLOWED: ['account_restricted', 'choose first-party data as the data source type'],
  DESTINATION_ACCOUNT_TYPE_MISMATCH: account,
  MISMATCHED_ACCOUNT_TYPE: account,
  INVALID_DESTINATION: account,
  INVALID_RESOURCE_NAME: account,
  OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH: account,
  DIFFERENT_LOGIN_ACCOUNTS_NOT_ALLOWED_FOR_DATA_PARTNER: account,
  UNSUPPORTED_OPERATING_ACCOUNT_FOR_DATA_PARTNER: account,
  UNSUPPORTED_LINKED_ACCOUNT_FOR_DATA_PARTNER: account,
  LINKED_ACCOUNT_ONLY_ALLOWED_WITH_DATA_PARTNER_LOGIN_ACCOUNT: account,
  PARTNER_MATCH_FOR_MANAGER_ACCOUNT_DISALLOWED: account,
  UNSUPPORTED_ACCOUNT_TYPE_FOR_PARTNER_LINK: account,
  REQUIRED_PREREQUISITE_LINK_MISSING: ['invalid_setting', 'link the account with the other one at Google first'],
  INVALID_USER_LIST_ID: ['object_not_found', 'check the ID of the list, and whether the account owns it'],
  INVALID_USER_LIST_TYPE: listType,
  UNSUPPORTED_USER_LIST_UPLOAD_KEY_TYPES: listType,
  UNSUPPORTED_INGESTED_USER_LIST_INFO_CONFIG: listType,
  USER_LIST_TYPE_NOT_SUPPORTED_FOR_ACCOUNT: [
    'invalid_setting',
    'the account cannot have lists of this kind; choose another audience type or account',
  ],
  UNSUPPORTED_ACCOUNT_TYPES_FOR_USER_LIST_TYPE: [
    'invalid_setting',
    'the account cannot have lists of this kind; choose another audience type or account',
  ],
  INVALID_CONVERSION_ACTION_ID: [
    'object_not_found',
    'check the conversion action ID, and whether the account that is named owns the conversion action',
  ],
  INVALID_CONVERSION_ACTION_TYPE: [
    'invalid_setting',
    'the conversion action takes no such events; name one for imports from clicks, from a website or from shops, as the rows are',
  ],
  DESTINATION_ACCOUNT_NOT_ENABLED_ENHANCED_CONVERSIONS_FOR_LEADS: [
    'terms_not_accepted',
    'turn on enhanced conversions for leads in the conversion settings of the Google Ads account first',
  ],
  DESTINATION_ACCOUNT_ENHANCED_CONVERSIONS_TERMS_NOT_SIGNED: [
    'terms_not_accepted',
    'accept the terms for enhanced conversions in the Google Ads account first',
  ],
  DESTINATION_ACCOUNT_DATA_POLICY_PROHIBITS_ENHANCED_CONVERSIONS: [
    'account_restricted',
    'its policies keep this account from enhanced conversions; ask your contact at Google',
  ],
  MULTIPLE_DATA_TYPES_NOT_ALLOWED: ['invalid_setting', 'send contact data and advertising IDs by two connections'],
  SENSITIVE_USER_LIST_IMMUTABLE: locked,
  USER_LIST_MUTATION_NOT_SUPPORTED: locked,
  IMMUTABLE_FIELD_FOR_UPDATE: locked,
  OWNERSHIP_REQUIRED_FOR_UPDATE: listOwner,
  DATA_PARTNER_USER_LIST_MUTATE_NOT_ALLOWED: listOwner,
  // Another client has made the list meanwhile, since it was looked for.
  DISPLAY_NAME_ALREADY_USED: ['conflict', 'give the list another name'],
  INVALID_DISPLAY_NAME: listName,
  USER_LIST_NAME_RESERVED: listName,
  MEMBERSHIP_DURATION_TOO_LONG: [
    'invalid_setting',
    'Google keeps members of this list for a shorter time; shorten the retention in the settings, or the membership duration of the list at Google',
  ],
  INVALID_REMOVE_AS_OF_TIME: ['clock_skewed', 'set the clock of the machine that runs this service'],
}

/** The error of one member or event, to follow “Google does not accept this member: ”. */
export const itemReasons: Readonly<Record<string, string>> = {
  INVALID_ARGUMENT: 'something in it is not valid',
  REQUIRED_FIELD_MISSING: 'a part of it is missing',
  INVALID_FORMAT: 'something in it has the wrong form',
  INVALID_ENUM_VALUE: 'a value in it is none of those that Google knows',
  INVALID_NUMBER_FORMAT: 'a number in it has the wrong form',
  INVALID_HEX_ENCODING: 'a digest is not hexadecimal',
  INVALID_BASE64_ENCODING: 'a digest is not Base64',
  INVALID_SHA256_FORMAT: 'a digest is not SHA-256',
  INVALID_POSTAL_CODE: 'the postal code is not valid',
  INVALID_COUNTRY_CODE: 'the country code is not valid',
  INVALID_REGION_CODE: 'the country code is not valid',
  INVALID_AUDIENCE_MEMBER: 'it is not valid',
  INVALID_MOBILE_ID_FORMAT: 'the advertising ID has the wrong form',
  NO_IDENTIFIERS_PROVIDED: 'it has no identifier',
  TOO_MANY_USER_IDENTIFIERS: 'it has more than 10 identifiers',
  FIELD_VALUE_TOO_LONG: 'a value in it is too long',
  FIELD_VALUE_TOO_SHORT: 'a value in it is too short',
  TOO_MANY_ELEMENTS: 'it has too many values of one kind',
  TOO_FEW_ELEMENTS: 'it lacks values of one kind',
  INVALID_EVENT: 'it is not valid',
  EVENT_TIME_INVALID: 'it did not happen within the time that Google counts',
  INVALID_CURRENCY_CODE: 'Google does not know the currency',
  EVENT_SOURCE_AND_DESTINATION_MISMATCH: 'the conversion action counts no events of this source',
  INVALID_MERCHANT_ID: 'the Merchant Center ID of the cart is not valid',
  INVALID_MERCHANT_FEED_LANGUAGE_CODE: 'the language code of the cart is not valid',
  INVALID_COUPON_CODE: 'a coupon code of the cart is not valid',
  CUSTOM_VARIABLE_NOT_FOUND: 'the conversion action has no custom variable of that name',
  CUSTOM_VARIABLE_NOT_ENABLED: 'a custom variable is not enabled in the account',
  INVALID_CUSTOM_VARIABLE_VALUE: 'the value of a custom variable is not valid',
  CUSTOM_VARIABLE_VALUE_CONTAINS_PII: 'a custom variable holds personal data, which Google does not accept there',
}

/** Reasons that fewer members or events in a request make go away. */
export const sizeReasons: ReadonlySet<string> = new Set(['TOO_MANY_AUDIENCE_MEMBERS', 'TOO_MANY_EVENTS'])
