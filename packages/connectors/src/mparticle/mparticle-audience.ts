import { column, defineConnector, secret } from '@penstock/connector'
import { mparticle } from './platform.ts'

/** Audiences that mParticle forwards, with the attributes of their members. */
export const mparticleAudience = defineConnector({
  slug: 'mparticle-audience',
  name: 'mParticle Audience',
  platform: mparticle,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Takes in the audiences that mParticle forwards, each member with their attributes.',
  notes:
    'An S3 bucket of its own is needed. Which attributes arrive depends on the platform chosen at mParticle; values of your own and lists may be among them.',
  secrets: {
    apiKey: secret({
      label: 'API key',
      description: 'Key made for you; enter it at mParticle in the settings of the connection',
      readonly: true,
    }),
  },
  source: {
    records: {
      $age: column({ description: 'Age of the person' }),
      $gender: column({ description: 'Gender, as a code' }),
      $country: column({ description: 'Country of residence, as a code' }),
      $zip: column({ description: 'Postal code of the address' }),
      $city: column({ description: 'City of residence' }),
      $state: column({ description: 'State or region of residence' }),
      $address: column({ description: 'Street and house number' }),
      $firstname: column({ description: 'Given name of the person' }),
      $lastname: column({ description: 'Family name of the person' }),
      $mobile: column({ description: 'Mobile phone number' }),
    },
  },
})
