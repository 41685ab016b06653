import { secret, text } from '@penstock/connector'

/** Settings that some buckets require in addition to an access key. */
export const access = {
  sessionToken: secret({
    label: 'Session token',
    description: 'Only for a temporary access key: the token that AWS issued with it',
  }),
  region: text({
    label: 'Region',
    description: 'Region of the bucket, such as eu-central-1; detected automatically if it is empty',
  }),
  endpoint: text({
    label: 'Endpoint',
    description:
      'Only for another store that is compatible with S3: its address, such as https://minio.example.com. The bucket becomes the first part of the path',
    binds: ['secretAccessKey', 'sessionToken'],
  }),
}
