import { secret, text } from '@penstock/connector'

/** How every FreeWheel connector signs in. */
export const credentials = {
  clientId: text({
    label: 'Client ID',
    description: 'Client ID that your FreeWheel account shows for API access',
    required: true,
  }),
  clientSecret: secret({
    label: 'Secret key',
    description: 'Secret key that FreeWheel issued for this client ID',
    required: true,
  }),
}
