import { select } from '@penstock/connector'
import { labelsOf } from '../kit/names.ts'

export const consentOptions = ['GRANTED', 'DENIED', 'NOT_APPLICABLE', 'UNKNOWN']

const adStorage = {
  label: 'Ad storage consent',
  description: 'Consent to store data for advertising, for rows without a value',
  options: consentOptions,
  labels: labelsOf(consentOptions),
}
const userData = {
  label: 'User data consent',
  description: 'Consent to use data for advertising, for rows without a value',
  options: consentOptions,
  labels: labelsOf(consentOptions),
}

/** The consent of the people in an upload, which Ads data manager requires of every one. */
export const consent = {
  consentAdStorage: select({ ...adStorage, required: true }),
  consentUserData: select({ ...userData, required: true }),
}

/** The same for an upload that needs consent only in Europe. */
export const optionalConsent = { consentAdStorage: select(adStorage), consentUserData: select(userData) }
