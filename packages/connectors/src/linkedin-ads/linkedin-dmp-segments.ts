import { column, defineConnector } from '@penstock/connector'
import { linkedinAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Members of DMP segments that LinkedIn already has. */
export const linkedinDmpSegments = defineConnector({
  slug: 'linkedin-dmp-segments',
  name: 'LinkedIn DMP Segments',
  platform: linkedinAds,
  dataType: 'audience DMP segments',
  dataTypeCategory: 'audience activation',
  description: 'Adds people to a DMP segment that LinkedIn already has, or takes them out of it.',
  actions: ['add', 'remove'],
  notes: 'Create the segment in LinkedIn first, and wait 5 seconds before the first change.',
  secrets: signIn,
  destination: {
    records: {
      userIds: column({
        description: 'Who it is: a list of Google advertising IDs or of SHA-256 or SHA-512 digests of e-mail addresses',
        required: true,
        identifiers: ['SHA256_EMAIL', 'SHA512_EMAIL', 'GOOGLE_AID'],
      }),
      segment_id: column({ description: 'ID of the segment at LinkedIn', required: true }),
      action: column({
        description: 'Whether the people join the segment or leave it',
        required: true,
        values: ['add', 'remove'],
      }),
    },
  },
})
