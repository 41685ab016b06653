import { type Fields, select, text } from '@penstock/connector'
import { roleField } from '../aws/role-field.ts'
import { applicationFields } from '../azure/application-fields.ts'
import { federationFields } from '../google/account-fields.ts'
import { trustFields } from '../kit/identity-fields.ts'
import type { SignInWay } from './settings.ts'

/** The ways to sign in without a stored password, with their labels. */
export type CloudWays = Readonly<Partial<Record<Exclude<SignInWay, 'password'>, string>>>

/** Databases that clouds host. */
export const hostedWays: CloudWays = {
  'aws-iam': 'IAM of Amazon RDS or Aurora',
  'google-iam': 'IAM of Google Cloud SQL',
  'entra-id': 'Microsoft Entra ID',
}

/** The condition under which a stored password signs in. */
export const byPassword = { authType: 'password' }

/** How a user of a database signs in: with a password, or with a token of the cloud that hosts the database. */
export const cloudSignIn = (ways: CloudWays): Fields => ({
  authType: select({
    keepsState: 'credential',
    identity: 'target',
    label: 'Sign-in method',
    description: 'Sign in with a password, or with tokens of the cloud, so that no password is stored',
    options: ['password', ...Object.keys(ways)],
    labels: { password: 'Password', ...ways },
    default: 'password',
  }),
})

/** The fields of a sign-in with tokens of a cloud. */
export function cloudFields(ways: CloudWays): Fields {
  const has = (way: keyof CloudWays) => ways[way] !== undefined
  const audiences = {
    'aws-iam': 'sts.amazonaws.com for AWS',
    'entra-id': 'api://AzureADTokenExchange for Azure',
  }
  const withAudience = (['aws-iam', 'entra-id'] as const).filter(has)
  return {
    ...(has('aws-iam') && { identityRoleArn: roleField({ authType: 'aws-iam' }) }),
    ...(has('google-iam') && federationFields({ authType: 'google-iam' })),
    ...(has('entra-id') && applicationFields({ authType: 'entra-id' })),
    identityAudience: text({
      keepsState: 'credential',
      label: 'Token audience',
      description: `By default ${withAudience.map((way) => audiences[way]).join(', and ')}`,
      max: 500,
      wrong: (value) => (/^[\x21-\x7e]*$/.test(value) ? undefined : 'must not contain spaces or special characters'),
      when: { authType: withAudience },
    }),
    ...trustFields({ authType: Object.keys(ways) }),
  }
}
