import { defineConnector, secret, text } from '@penstock/connector'
import { maven } from './platform.ts'

/** Market snapshots of Maven, which Maven itself drops into a bucket issued for them. */
export const mavenMediaSnapshots = defineConnector({
  slug: 'maven-media-snapshots',
  name: 'Maven Media Snapshots',
  platform: maven,
  dataType: 'Insights',
  dataTypeCategory: 'reporting',
  status: 'preview',
  description:
    'Receives the market snapshots on which media planners base their strategy. Maven delivers them to an S3 bucket.',
  notes:
    'Maven is not known to have an API: files arrive in batches, once Maven has been given the bucket and its keys.',
  secrets: {
    bucketName: text({
      label: 'Bucket name',
      description: 'Bucket for the snapshots; give its name to Maven, who set up the delivery',
      readonly: true,
    }),
    bucketRegion: text({
      label: 'Bucket region',
      description: 'AWS region in which the bucket lives',
      readonly: true,
    }),
    accessKeyId: text({
      label: 'AWS access key',
      description: 'Access key ID with which Maven writes to the bucket',
      readonly: true,
    }),
    secretAccessKey: secret({
      label: 'AWS secret key',
      description: 'Secret half of the access key that Maven uses',
      readonly: true,
    }),
  },
  source: {},
})
