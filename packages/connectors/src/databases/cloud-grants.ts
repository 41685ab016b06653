import { asConnectorError } from '@penstock/connector'
import type { Place, SignInWay } from './settings.ts'

const grants: Readonly<Record<Exclude<SignInWay, 'password'>, string>> = {
  'aws-iam':
    'The role must be allowed rds-db:connect for this user. In PostgreSQL the user needs the role rds_iam, in MySQL it is identified with AWSAuthenticationPlugin.',
  'google-iam':
    'The service account must be an IAM user of the instance and have the role Cloud SQL Instance User. Its name has no .gserviceaccount.com in PostgreSQL, and ends before the @ in MySQL.',
  'entra-id': 'The application must be a user of the database, created with its name in Microsoft Entra ID.',
}

/** The error of a sign-in that a database refused, with what to do there. Returns other errors unchanged. */
export function withGrant(error: unknown, { signIn }: Place): unknown {
  const refusal = asConnectorError(error)
  if (signIn === 'password' || refusal?.code !== 'invalid_credentials') return error
  return refusal.with({
    message: `The database does not accept the token of the cloud for this user. ${grants[signIn]}`,
  })
}
