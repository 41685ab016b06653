import { column, defineConnector, text } from '@penstock/connector'
import { apiClient } from './api-client.ts'
import { yahooDsp } from './platform.ts'

/** Audiences of Yahoo DSP, made of hashed contacts. */
export const yahooDspAudiences = defineConnector({
  slug: 'yahoo-dsp-audiences',
  name: 'Yahoo DSP Audiences',
  platform: yahooDsp,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Adds people to audiences of Yahoo DSP by their hashed e-mail addresses and phone numbers.',
  actions: ['create', 'add'],
  notes: 'People can be added to an audience but not removed. Yahoo must enable API access for you first.',
  secrets: apiClient,
  destination: {
    fields: {
      advertiserName: text({ label: 'Advertiser name', description: 'Name by which you recognise the advertiser' }),
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the advertiser at Yahoo that owns the audiences',
        required: true,
      }),
    },
    records: {
      segment_name: column({ description: 'Name of the audience to create' }),
      segment_id: column({ description: 'ID of the audience to change' }),
      action: column({ description: 'Whether the person is added or removed', required: true, values: ['add'] }),
      email_sha256: column({
        description: 'Hashed e-mail address',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_sha256: column({
        description: 'Hashed phone number',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
