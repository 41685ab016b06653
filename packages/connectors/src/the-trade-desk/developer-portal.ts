import { secret } from '@penstock/connector'

/** How the connectors that use a token of the developer portal sign in. */
export const developerPortal = {
  apiToken: secret({
    label: 'Token',
    description: 'API token that you created in the developer portal of The Trade Desk',
    required: true,
  }),
}
