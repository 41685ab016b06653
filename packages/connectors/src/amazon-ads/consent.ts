import { select } from '@penstock/connector'

const options = ['GRANTED', 'DENIED', 'NOT_APPLICABLE', 'UNKNOWN']

/** What the people of an upload have consented to; Amazon Data Manager takes one answer for all rows. */
export const consent = {
  consentAdStorage: select({
    label: 'Ad storage consent',
    description:
      'Whether people agreed that their data is stored for advertising; applies to all rows of the connection',
    options,
    required: true,
  }),
  consentUserData: select({
    label: 'User data consent',
    description: 'Whether people agreed that their data is used for advertising; applies to all rows of the connection',
    options,
    required: true,
  }),
}
