import { type FieldDefinition, secret, select, text } from '@penstock/connector'
import { roleField } from '../aws/role-field.ts'
import { audienceField, trustFields } from '../kit/identity-fields.ts'

/** Settings that some buckets require in addition to an access key. */
export const access = {
  sessionToken: secret({
    label: 'Session token',
    description: 'Only for a temporary access key: the token that AWS issued with it',
  }),
  roleArn: text({
    keepsState: 'credential',
    label: 'Role ARN',
    description: 'IAM role for the access key to assume, such as arn:aws:iam::123456789012:role/Name',
  }),
  externalId: text({
    keepsState: 'credential',
    label: 'External ID',
    description: 'The external ID that the trust policy of the role requires, if it requires one',
  }),
  region: text({
    label: 'Region',
    description: 'Region of the bucket, such as eu-central-1; detected automatically if it is empty',
  }),
  endpoint: text({
    label: 'Endpoint',
    description: 'Address of another S3-compatible store, such as https://minio.example.com',
    binds: ['secretAccessKey', 'sessionToken'],
  }),
}

const withKey = { authType: 'access-key' }
const withoutKey = { authType: 'web-identity' }
const onlyWith = (when: NonNullable<FieldDefinition['when']>, field: FieldDefinition): FieldDefinition => ({
  ...field,
  when,
})

/**
 * How a connector signs in to Amazon S3: with an access key, or without a key, by a role that trusts this service. A token of the
 * second way, and what it signs in to, go only to AWS itself, so it has no endpoint.
 * @param key the fields of the access key
 */
export const signIn = (key: { readonly accessKeyId: FieldDefinition; readonly secretAccessKey: FieldDefinition }) => ({
  authType: select({
    keepsState: 'credential',
    identity: 'target',
    label: 'Sign-in method',
    description: 'Sign in with an access key, or with a role that trusts this service, so that no key is stored',
    options: ['access-key', 'web-identity'],
    labels: { 'access-key': 'Access key', 'web-identity': 'Role without a key' },
    default: 'access-key',
  }),
  accessKeyId: onlyWith(withKey, key.accessKeyId),
  secretAccessKey: onlyWith(withKey, key.secretAccessKey),
  sessionToken: onlyWith(withKey, access.sessionToken),
  roleArn: onlyWith(withKey, access.roleArn),
  externalId: onlyWith(withKey, access.externalId),
  identityRoleArn: roleField(withoutKey),
  identityAudience: audienceField(withoutKey, 'sts.amazonaws.com', 'Audience of the identity provider in AWS'),
  ...trustFields(withoutKey),
  region: access.region,
  endpoint: onlyWith(withKey, access.endpoint),
})

/** How stored objects are encrypted. */
export const encryption = {
  encryption: select({
    keepsState: 'transport',
    label: 'Encryption',
    description: 'How the file is encrypted in the bucket',
    options: ['bucket default', 'SSE-S3', 'SSE-KMS'],
    labels: {
      'bucket default': 'Default of the bucket',
      'SSE-S3': 'By S3 (SSE-S3)',
      'SSE-KMS': 'By AWS KMS (SSE-KMS)',
    },
    default: 'bucket default',
  }),
  kmsKeyId: text({
    keepsState: 'transport',
    label: 'KMS key',
    description:
      'ARN, ID or alias of the KMS key. By default the AWS managed key for S3. The access key needs kms:GenerateDataKey and kms:Decrypt for it',
    when: { encryption: 'SSE-KMS' },
  }),
}
