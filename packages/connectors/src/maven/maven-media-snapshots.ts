import { defineConnector, secret, text } from '@penstock/connector'
import { maven } from './platform.ts'

/** Market snapshots of Maven, which Maven itself drops into a bucket issued for them. */
export const mavenMediaSnapshots = defineConnector({
  slug: 'maven-media-snapshots',
  name: 'Maven Media Snapshots',
  platform: maven,
  dataType: 'Insights',
  dataTypeCategory: 'reporting',
  status: 'withdrawn',
  withdrawn: {
    why: 'Maven delivers snapshots as files to a bucket of yours; no public document describes them.',
    instead: 'Read them with the Amazon S3 Source, which takes the columns from the files.',
  },
  description: 'Receives the market snapshots that Maven delivers to an S3 bucket for media planners.',
  notes: 'Maven has no known API. Give Maven the bucket and its keys; files then arrive in batches.',
  secrets: {
    bucketName: text({
      label: 'Bucket name',
      description: 'Bucket for the snapshots; send its name to Maven, which sets up the delivery',
      readonly: true,
    }),
    bucketRegion: text({
      label: 'Bucket region',
      description: 'AWS region of the bucket',
      readonly: true,
    }),
    accessKeyId: text({
      label: 'AWS access key',
      description: 'ID of the access key that Maven uses to write to the bucket',
      readonly: true,
    }),
    secretAccessKey: secret({
      label: 'AWS secret key',
      description: 'Secret of the access key that Maven uses',
      readonly: true,
    }),
  },
  source: {},
})
