import { defineConnector } from '@penstock/connector'
import { credentials } from './credentials.ts'
import { liveRamp } from './platform.ts'

/** Personal data, matched to people by LiveRamp. */
export const liverampIdMatch = defineConnector({
  slug: 'liveramp-id-match',
  name: 'LiveRamp ID Match and Retrieval',
  platform: liveRamp,
  dataType: 'ID match',
  dataTypeCategory: 'identity management',
  status: 'preview',
  description: 'Matches personal data, hashed or plain, to people at LiveRamp.',
  notes: 'Plain personal data is sent to the match endpoint of LiveRamp, hashed data to its lookup endpoint.',
  secrets: credentials,
  destination: {},
})
