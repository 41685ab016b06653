import { secret, text } from '@penstock/connector'

/** How every LiveRamp connector signs in. */
export const credentials = {
  clientId: text({
    label: 'Client ID',
    description: 'Client ID for API access; ask your success manager at LiveRamp for it',
    required: true,
  }),
  clientSecret: secret({
    label: 'Secret key',
    description: 'Secret key of this client ID, also from your success manager',
    required: true,
  }),
}
