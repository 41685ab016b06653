import { secret, text } from '@penstock/connector'

/** How the connectors that use the API access of a seat sign in. */
export const apiClient = {
  clientId: text({
    keepsState: 'credential',
    label: 'Client ID',
    description: 'ID that Yahoo shows when your API access is activated',
    required: true,
  }),
  clientSecret: secret({
    label: 'Client secret',
    description: 'Secret that Yahoo shows with the client ID',
    required: true,
  }),
}
