import { secret, text } from '@penstock/connector'

/** How all of Nielsen's connectors sign in. */
export const clientCredentials = {
  clientId: text({
    label: 'Client ID',
    description: 'ID of your client, found in your Nielsen account',
    required: true,
  }),
  clientSecret: secret({ label: 'Secret key', description: 'Secret that belongs to the client ID', required: true }),
}
