import { secret, text } from '@penstock/connector'

/** The client of an installed package, with which a connector signs in. */
export const client = {
  clientId: text({
    keepsState: 'credential',
    label: 'Client ID',
    description: 'ID of the client, from the package that you installed',
    required: true,
  }),
  clientSecret: secret({
    label: 'Client secret',
    description: 'Secret of the client, from the same package',
    required: true,
  }),
}
