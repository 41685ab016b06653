import { column, secret, select, text } from '@penstock/connector'
import { filePreset } from '../kit/file-preset.ts'
import { inboundLine, nameOfInbound, orderOfOutbound } from './audience-files.ts'
import { adobe } from './platform.ts'

/** Segments of Adobe Audience Manager, in both directions, as files in Amazon S3. */
export const adobeAudienceManager = filePreset({
  slug: 'adobe-audience-manager',
  name: 'Adobe Audience Segments',
  platform: adobe,
  dataType: 'audience DMP segments',
  dataTypeCategory: 'audience activation',
  description:
    'Reads the segments that Adobe Audience Manager delivers to Amazon S3, and delivers traits of users to it.',
  notes:
    'From Adobe’s public documents “Amazon S3 Name and File Size Requirements for Inbound Data Files”, “Inbound Data File Contents” and “Outbound Data File Name and Contents” (experienceleague.adobe.com, as of 2024): the names of the files, their columns, and the rules for IDs. To be confirmed with Adobe: the bucket, the folder and the keys; that the destination in Audience Manager uses the default outbound format and not a template of its own; that the IDs are those of onboarded traits. As a destination, each transfer writes one file, compressed with gzip, into the folder date=YYYY-MM-DD below the output path. Its name has the second in which the transfer began: give two connections with the same data source different schedules. Adobe takes files of at most 3 GB, keeps 200 lines of one user in a file, and reports nothing back: rows count as accepted when they are in the bucket. With overwrite, Adobe replaces the traits of each user in the file, and ignores removed traits. As a source, a transfer reads the files, full and incremental, whose names have a later time than those of the transfer before; .info files are left out.',
  tested: 'An S3 server from npm, fauxqs 2.4.1, with files in the documented layout; not Adobe itself.',
  api: { version: 'files in Amazon S3, by its REST API of 1 March 2006', ends: 'no end is announced' },
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'Not needed for files: ID of an application for the REST API of Audience Manager',
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Not needed for files: secret that Adobe shows together with this client ID',
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Not needed for files: refresh token from the OAuth sign-in to Adobe',
    }),
  },
  source: {
    records: {
      userId: column({ description: 'ID of the user, of the kind that the destination in Audience Manager delivers' }),
      segments: column({ description: 'IDs of the segments that the user is in, separated by commas' }),
      removedSegments: column({ description: 'IDs of the segments that the user has left, separated by commas' }),
    },
    layout: () => ({ delimiter: ' ', columns: ['userId', 'segments', 'removedSegments'], shortRows: true }),
    names: /^[^_.][^/]*_(?:iter|full)_\d{13,}\.sync(?:\.gz)?$/,
    order: orderOfOutbound,
  },
  destination: {
    fields: {
      dataSourceId: text({
        label: 'Data source ID',
        description: 'ID of the data source that the user IDs belong to; 20914 for Android devices, 20915 for iOS',
        required: true,
      }),
      targetDataSourceId: text({
        label: 'Target data source ID',
        description: 'ID of the data source that owns the traits, if it is a different one; needed for device IDs',
      }),
      synchronization: select({
        label: 'Synchronization',
        description: 'Add and remove traits, or replace all traits of each user in the file',
        options: ['sync', 'overwrite'],
        labels: { sync: 'Add and remove', overwrite: 'Replace' },
        default: 'sync',
      }),
    },
    records: {
      userId: column({
        description: 'ID of the user in the data source, unhashed if it is of a device',
        required: true,
      }),
      traits: column({ description: 'IDs of the traits that the user gets, separated by commas' }),
      removedTraits: column({ description: 'IDs of the traits that the user loses, separated by commas' }),
    },
    name: nameOfInbound,
    line: inboundLine,
    gzip: true,
  },
})
