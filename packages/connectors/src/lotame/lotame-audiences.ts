import { column, defineConnector, text } from '@penstock/connector'
import { lotame } from './platform.ts'

const records = {
  userId: column({ description: 'Identifier of the person, of one of the kinds in the following columns' }),
  audienceSegments: column({ description: 'Behaviours that are recorded for this person' }),
  country: column({ description: 'Country as its two-letter ISO code' }),
  ips: column({ description: 'IP addresses from which this person was seen' }),
  PANO: column({ description: 'Kind of identifier: Panorama ID of Lotame' }),
  PID: column({ description: 'Kind of identifier: profile ID of Lotame' }),
  TPID: column({ description: 'Kind of identifier: ID of a third party' }),
  EMAIL: column({ description: 'Kind of identifier: e-mail address, not hashed' }),
  IDFA: column({ description: 'Kind of identifier: advertising ID of an Apple device' }),
  GAID: column({ description: 'Kind of identifier: advertising ID of Google on Android devices' }),
  RIDA: column({ description: 'Kind of identifier: advertising ID of a Roku device' }),
  TVOS: column({ description: 'Kind of identifier: advertising ID of an Apple TV' }),
  CHRM: column({ description: 'Kind of identifier: advertising ID of an Android TV or a Chromecast' }),
  AFAI: column({ description: 'Kind of identifier: advertising ID of an Amazon Fire TV Stick' }),
  MSAI: column({ description: 'Kind of identifier: advertiser ID of Microsoft' }),
  SMSG: column({ description: 'Kind of identifier: advertising ID of a Samsung television' }),
  SONY: column({ description: 'Kind of identifier: advertising ID of a Sony television' }),
  LGTV: column({ description: 'Kind of identifier: advertising ID of an LG television' }),
  FTCH: column({ description: 'Kind of identifier: advertising ID of a Fetch TV box' }),
  HIP4: column({ description: 'Kind of identifier: IP address, version 4' }),
  UUID: column({ description: 'Kind of identifier: any other ID of a connected television' }),
}

/** Audience data of Lotame, in both directions, through S3. */
export const lotameAudiences = defineConnector({
  slug: 'lotame-audiences',
  name: 'Lotame Audiences',
  platform: lotame,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description:
    'Exchanges audience data with Lotame through Amazon S3, to target or exclude people, or to find similar ones.',
  notes: 'You need an S3 bucket that is used for nothing else. Arrange an S3 transfer with Lotame first.',
  secrets: {
    clientDir: text({
      label: 'Client directory',
      description: 'The clientDir that Lotame gave you for the S3 transfer, for the role of this connector',
      required: true,
    }),
  },
  source: { records },
  destination: { records },
})
