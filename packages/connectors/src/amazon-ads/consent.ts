import { select } from '@penstock/connector'

export const consentOptions = ['GRANTED', 'DENIED', 'NOT_APPLICABLE', 'UNKNOWN']

const adStorage = {
  label: 'Ad storage consent',
  description: 'Consent to store data for advertising, for rows without a value',
  options: consentOptions,
}
const userData = {
  label: 'User data consent',
  description: 'Whether people agreed that their data is used for advertising, for rows that do not say so',
  options: consentOptions,
}

/** The consent of the people in an upload, which Ads data manager requires of every one. */
export const consent = {
  consentAdStorage: select({ ...adStorage, required: true }),
  consentUserData: select({ ...userData, required: true }),
}

/** The same for an upload that needs consent in Europe alone. */
export const optionalConsent = { consentAdStorage: select(adStorage), consentUserData: select(userData) }
