import { defineConnector, secret, text } from '@penstock/connector'
import { kochava } from './platform.ts'

/** Reports on events in apps, exchanged with Kochava through S3. */
export const kochavaGeoEvents = defineConnector({
  slug: 'kochava-geo-events',
  name: 'Kochava Geo Events',
  platform: kochava,
  dataType: 'geo events',
  dataTypeCategory: 'events',
  status: 'withdrawn',
  withdrawn: {
    why: 'Kochava delivers reports with the columns that each report is set up with, to a bucket and under names that no public document describes, and takes files of events only by arrangement with its support.',
    instead:
      'Have the reports delivered to your own bucket, and read them with the Amazon S3 Source. Leave files for Kochava in the agreed bucket with the Amazon S3 Destination.',
  },
  description: 'Exchanges reports on events in apps with Kochava, in either direction, through an Amazon S3 bucket.',
  notes:
    'If Kochava is the destination, Kochava provides the bucket and its support sets up the link. The columns of a report depend on the data type selected in Kochava: app, campaign, device, events, location, attribution, agency or traffic verification.',
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
