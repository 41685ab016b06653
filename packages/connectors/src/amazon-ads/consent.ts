import { select } from '@penstock/connector'

const options = ['GRANTED', 'DENIED', 'NOT_APPLICABLE', 'UNKNOWN']

/** The consent of the people in an upload. Amazon Data Manager accepts one value for all rows. */
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
