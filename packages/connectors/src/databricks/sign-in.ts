import { secret, select, text } from '@penstock/connector'
import { audienceField, trustFields } from '../kit/identity-fields.ts'

const federated = { authType: 'federation' }

/** A Databricks workspace, and how to sign in. */
export const signIn = {
  host: text({
    label: 'Host',
    description: 'Address of the workspace, such as dbc-a1b2345c-d6e7.cloud.databricks.com',
    required: true,
    identity: 'target',
    binds: ['accessToken', 'clientSecret'],
  }),
  authType: select({
    keepsState: 'credential',
    label: 'Sign-in method',
    identity: 'target',
    description: 'Sign in as a service principal, with its secret or without one, or with a personal access token',
    options: ['service-principal', 'federation', 'access-token'],
    labels: {
      'service-principal': 'Service principal',
      federation: 'Service principal without a secret',
      'access-token': 'Personal access token',
    },
    default: 'service-principal',
  }),
  clientId: text({
    keepsState: 'credential',
    label: 'Client ID',
    identity: 'target',
    description: 'Application ID of the service principal',
    required: true,
    when: { authType: ['service-principal', 'federation'] },
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
  identityAudience: audienceField(federated, 'databricks', 'An audience of the federation policy'),
  ...trustFields(federated),
}
