import { secret, select, text } from '@penstock/connector'

/** A Databricks workspace, and how to sign in. */
export const signIn = {
  host: text({
    label: 'Host',
    description: 'Address of the workspace, such as dbc-a1b2345c-d6e7.cloud.databricks.com',
    required: true,
    binds: ['accessToken', 'clientSecret'],
  }),
  authType: select({
    keepsState: 'credential',
    label: 'Sign-in method',
    description: 'Sign in as a service principal, or with a personal access token',
    options: ['service-principal', 'access-token'],
    labels: { 'service-principal': 'Service principal', 'access-token': 'Personal access token' },
    default: 'service-principal',
  }),
  clientId: text({
    keepsState: 'credential',
    label: 'Client ID',
    description: 'Application ID of the service principal',
    required: true,
    when: { authType: 'service-principal' },
  }),
  clientSecret: secret({
    label: 'Client secret',
    description: 'OAuth secret of the service principal',
    required: true,
    when: { authType: 'service-principal' },
  }),
  accessToken: secret({
    label: 'Access token',
    description: 'Personal access token',
    required: true,
    when: { authType: 'access-token' },
  }),
}
