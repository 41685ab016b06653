import { secret, select, text } from '@penstock/connector'

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
