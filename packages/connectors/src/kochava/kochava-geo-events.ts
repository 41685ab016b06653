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
  description: 'Exchanges reports on events in apps with Kochava, in either direction, through an Amazon S3 bucket.',
  notes:
    'You need an S3 bucket that is used for nothing else. If Kochava is the destination, Kochava provides the bucket and its support sets up the link. The columns of a report depend on the data type selected in Kochava: app, campaign, device, events, location, attribution, agency or traffic verification.',
  secrets: {
    bucketName: text({
      label: 'Bucket name',
      description: 'Name of the bucket that was created for you; enter it in the report settings of Kochava',
      readonly: true,
      role: 'Source',
    }),
    bucketRegion: text({
      label: 'Bucket region',
      description: 'AWS region of the bucket',
      readonly: true,
      role: 'Source',
    }),
    accessKeyId: text({
      label: 'AWS access key',
      description: 'ID of the access key that Kochava uses to write to the bucket',
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
