import { type Fields, select, text } from '@penstock/connector'
import { roleField } from '../aws/role-field.ts'
import { applicationFields } from '../azure/application-fields.ts'
import { federationFields } from '../google/account-fields.ts'
import { trustFields } from '../kit/identity-fields.ts'

/** The condition under which a stored password signs in. */
export const byPassword = { authType: 'password' }

/** How a user of a database signs in: with a password, or with a token of the cloud that hosts the database. */
export const cloudSignIn: Fields = {
  authType: select({
    keepsState: 'credential',
    identity: 'target',
    label: 'Sign-in method',
    description: 'Sign in with a password, or with tokens of the cloud, so that no password is stored',
    options: ['password', 'aws-iam', 'google-iam', 'entra-id'],
    labels: {
      password: 'Password',
      'aws-iam': 'IAM of Amazon RDS or Aurora',
      'google-iam': 'IAM of Google Cloud SQL',
      'entra-id': 'Microsoft Entra ID',
    },
    default: 'password',
  }),
}

/** The fields of a sign-in with tokens of a cloud. */
export const cloudFields: Fields = {
  identityRoleArn: roleField({ authType: 'aws-iam' }),
  ...federationFields({ authType: 'google-iam' }),
  ...applicationFields({ authType: 'entra-id' }),
  identityAudience: text({
    keepsState: 'credential',
    label: 'Token audience',
    description: 'By default sts.amazonaws.com for AWS, and api://AzureADTokenExchange for Azure',
    max: 500,
    wrong: (value) => (/^[\x21-\x7e]*$/.test(value) ? undefined : 'must not contain spaces or special characters'),
    when: { authType: ['aws-iam', 'entra-id'] },
  }),
  ...trustFields({ authType: ['aws-iam', 'google-iam', 'entra-id'] }),
}
