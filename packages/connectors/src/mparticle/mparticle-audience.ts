import { column, defineConnector, secret } from '@penstock/connector'
import { mparticle } from './platform.ts'

/** Audiences that mParticle forwards, with the attributes of their members. */
export const mparticleAudience = defineConnector({
  slug: 'mparticle-audience',
  name: 'mParticle Audience',
  platform: mparticle,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  status: 'withdrawn',
  withdrawn: {
    why: 'Audiences are forwarded by mParticle to services that receive its requests, which this program does not, and no public description of audiences as files is known.',
    instead: 'Read what your mParticle account exports to a warehouse with the Snowflake or Google BigQuery Source.',
  },
  description: 'Receives the audiences that mParticle forwards, with the attributes of each member.',
  notes:
    'The connector needs its own S3 bucket. The attributes depend on the platform selected at mParticle; they can include custom values and lists.',
  secrets: {
    apiKey: secret({
      label: 'API key',
      description: 'Generated key; enter it in the settings of the connection at mParticle',
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
