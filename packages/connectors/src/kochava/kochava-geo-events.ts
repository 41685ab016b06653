import { defineConnector, secret, text } from '@penstock/connector'
import { kochava } from './platform.ts'

/** Reports on events in apps, exchanged with Kochava through S3. */
export const kochavaGeoEvents = defineConnector({
  slug: 'kochava-geo-events',
  name: 'Kochava Geo Events',
  platform: kochava,
  dataType: 'geo events',
  dataTypeCategory: 'events',
  status: 'preview',
  description: 'Exchanges reports on events in apps with Kochava, in either direction, through a bucket of Amazon S3.',
  notes:
    'An S3 bucket is needed that serves nothing else. Where Kochava is the destination, the bucket comes from Kochava and the link is set up by support staff. Which columns a report has depends on the data type picked in Kochava: app, campaign, device, events, location, attribution, agency or traffic verification.',
  secrets: {
    bucketName: text({
      label: 'Bucket name',
      description: 'Name of the bucket that was made for you; copy it into the report settings of Kochava',
      readonly: true,
      role: 'Source',
    }),
    bucketRegion: text({
      label: 'Bucket region',
      description: 'AWS region in which that bucket is',
      readonly: true,
      role: 'Source',
    }),
    accessKeyId: text({
      label: 'AWS access key',
      description: 'ID of the access key with which Kochava writes to that bucket',
      readonly: true,
      role: 'Source',
    }),
    secretAccessKey: secret({
      label: 'AWS secret key',
      description: 'Secret that goes with this access key',
      readonly: true,
      role: 'Source',
    }),
  },
  source: {},
  destination: {},
})
