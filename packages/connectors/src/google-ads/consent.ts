import { column, select, type Values } from '@penstock/connector'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'

const options = ['Granted', 'Denied', 'Unspecified']

/** What the people of a customer list have consented to. */
export const consent = {
  adUserDataConsent: select({
    label: 'Ad user data consent',
    description: 'Whether people agreed that their data is sent to Google for advertising',
    options,
    required: true,
  }),
  adPersonalizationConsent: select({
    label: 'Ad personalization consent',
    description: 'Whether people agreed to see personalised ads',
    options,
    required: true,
  }),
}

const values = options.map((option) => option.toLowerCase())

/** What one person has consented to, where rows say it. */
export const consentColumns = {
  consent_ad_user_data: column({
    description:
      'Whether this person agreed that the data is sent to Google for advertising; by default as set in the connection',
    synonyms: ['ad_user_data', 'ad_user_data_consent'],
    values,
  }),
  consent_ad_personalization: column({
    description: 'Whether this person agreed to see personalised ads; by default as set in the connection',
    synonyms: ['ad_personalization', 'ad_personalization_consent'],
    values,
  }),
}

type Status = 'CONSENT_GRANTED' | 'CONSENT_DENIED' | 'CONSENT_STATUS_UNSPECIFIED'

/** A consent as the Data Manager takes it. */
export type Consent = { readonly adUserData?: Status; readonly adPersonalization?: Status }

const statuses: Readonly<Record<string, Status>> = {
  granted: 'CONSENT_GRANTED',
  denied: 'CONSENT_DENIED',
  unspecified: 'CONSENT_STATUS_UNSPECIFIED',
}
const statusOf = (value: unknown): Status => statuses[String(value).toLowerCase()] ?? 'CONSENT_STATUS_UNSPECIFIED'

/** The consent of a whole request; what is unspecified is left out, and all of it where nothing is specified. */
export function consentOfSettings({ adUserDataConsent, adPersonalizationConsent }: Values): Consent | undefined {
  const specified = Object.entries({
    adUserData: statusOf(adUserDataConsent),
    adPersonalization: statusOf(adPersonalizationConsent),
  }).filter(([, status]) => status !== 'CONSENT_STATUS_UNSPECIFIED')
  return specified.length > 0 ? Object.fromEntries(specified) : undefined
}

/**
 * The consent of one member, which takes the place of the request's; `undefined` where the row says none. What only one of
 * its columns says is completed by the connection's settings.
 */
export function consentOfRow(row: BatchRow, settings: Values): Consent | undefined {
  const userData = row.text('consent_ad_user_data')
  const personalization = row.text('consent_ad_personalization')
  if (userData === undefined && personalization === undefined) return undefined
  return {
    adUserData: statusOf(userData ?? settings.adUserDataConsent),
    adPersonalization: statusOf(personalization ?? settings.adPersonalizationConsent),
  }
}
