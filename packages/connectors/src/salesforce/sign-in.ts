import { secret, select, text } from '@penstock/connector'

/** The two ways to sign in. A refresh token is sent only to the login host of Salesforce, never to the host in a setting. */
export const signIn = {
  authType: select({
    keepsState: 'credential',
    label: 'Sign-in method',
    description: 'A user of Salesforce authorizes an app, or an app of your organization signs in as its own user',
    options: ['oauth2', 'client-credentials'],
    labels: { oauth2: 'Authorized by a user', 'client-credentials': 'Client credentials' },
    default: 'oauth2',
  }),
  clientId: text({
    keepsState: 'credential',
    label: 'Client ID',
    description: 'Consumer key of the app that the user authorizes',
    required: true,
    when: { authType: 'oauth2' },
  }),
  clientSecret: secret({
    label: 'Client secret',
    description: 'Consumer secret of this app',
    required: true,
    when: { authType: 'oauth2' },
  }),
  refreshToken: secret({
    label: 'Refresh token',
    description: 'Token that Salesforce granted this app for the user, in the web server flow',
    required: true,
    when: { authType: 'oauth2' },
  }),
  organizationType: select({
    label: 'Organization',
    description: 'Whether the user belongs to a production organization or to a sandbox',
    options: ['Production', 'Sandbox'],
    default: 'Production',
    when: { authType: 'oauth2' },
  }),
  myDomain: text({
    label: 'My Domain',
    description: 'Host of your organization as Setup shows it under My Domain, such as acme.my.salesforce.com',
    required: true,
    when: { authType: 'client-credentials' },
    binds: ['serviceClientSecret'],
  }),
  serviceClientId: text({
    keepsState: 'credential',
    label: 'Consumer key',
    description: 'Consumer key of an app of your organization with the client credentials flow',
    required: true,
    when: { authType: 'client-credentials' },
  }),
  serviceClientSecret: secret({
    label: 'Consumer secret',
    description: 'Secret that belongs to the consumer key',
    required: true,
    when: { authType: 'client-credentials' },
  }),
}
