import { select } from '@penstock/connector'

const options = ['Granted', 'Denied', 'Unspecified']

/** What the people of a customer list have consented to. */
export const consent = {
  adUserDataConsent: select({
    label: 'Ad user data consent',
    description: 'Whether people agreed that their data goes to Google for advertising',
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
