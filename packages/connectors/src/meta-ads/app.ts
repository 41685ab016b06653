import { secret, text } from '@penstock/connector'

/** The OAuth app on whose behalf Meta is called. */
export const app = {
  clientId: text({
    keepsState: 'credential',
    label: 'App ID',
    description: 'ID of your OAuth app at Meta',
    required: true,
  }),
  clientSecret: secret({ label: 'App secret', description: 'Secret that belongs to the app ID', required: true }),
}
