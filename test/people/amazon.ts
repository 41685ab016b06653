import {
  amazonEntity,
  amazonManager,
  startAmazonAudiences,
} from '../../packages/connectors/test/amazon-audience-server.ts'
import { amazonAdvertiser, amazonRoutes, amazonSecrets } from '../../packages/connectors/test/amazon-server.ts'
import { type Platform, saying, type Wanted, whole } from './compare.ts'
import { listOf, objectOf } from './json.ts'
import type { Person } from './people.ts'
import { digest, emails, names, phoneDigest, phones, places } from './rules.ts'

const adding = { action: { value: 'add' } }

/** The digests that Amazon must get of a person, by its names for them. */
const amazonPii = (person: Person, keys: readonly string[]): Readonly<Record<string, string | undefined>> => {
  const digests = [
    digest(person.email, emails.amazon),
    phoneDigest(person, phones.digits),
    digest(person.first, names.amazon.first),
    digest(person.last, names.amazon.last),
    digest(person.city, places.ascii),
    digest(person.state, places.asciiState),
    // Rows without a country get the country of the connection.
    digest(person.zip, places.amazonZip(person.country.kind === 'value' ? person.country.truth : 'us')),
  ]
  return Object.fromEntries(keys.map((key, at) => [key, digests[at]]))
}

/** An invalid country rejects the row. A missing country is replaced by the connection's country. */
const amazonWants =
  (keys: readonly string[]) =>
  (person: Person): Wanted =>
    person.country.kind === 'broken' ? 'refused' : whole(amazonPii(person, keys))

const amazonOf = (slug: string, account: Platform['settings']): Platform => ({
  slug,
  secrets: amazonSecrets,
  settings: { ...account, country: 'US', consentAdStorage: 'GRANTED', consentUserData: 'GRANTED' },
  mapping: { ...adding, segment_name: { value: 'Buyers' }, maid: null },
  start: startAmazonAudiences,
  origins: Object.keys(amazonRoutes('')),
  wants: amazonWants(['em', 'ph', 'fn', 'ln', 'cty', 'st', 'zip']),
  reads: ({ path, json }) =>
    /\/members$/.test(path)
      ? listOf(objectOf(json).members)
          .flatMap((member) => listOf(objectOf(objectOf(member).userIdentity).hashedPiis))
          .map((pii) => saying(objectOf(pii)))
      : [],
})

/** Amazon's audiences: of Ads data manager for the two kinds of accounts, and of the DSP. */
export const amazons: readonly Platform[] = [
  amazonOf('amazon-ads-data-manager-audiences', { managerId: amazonManager }),
  amazonOf('amazon-ads-data-manager-dsp-audiences', { customerFacingId: amazonEntity }),
  {
    ...amazonOf('amazon-ads-dsp-audiences', { advertiserId: amazonAdvertiser }),
    secrets: { authType: 'oauth2', ...amazonSecrets },
    mapping: { ...adding, segment_name: { value: 'Loyal buyers' } },
    wants: amazonWants(['email', 'phone', 'firstname', 'lastname', 'city', 'state', 'postal']),
    reads: ({ path, json }) =>
      /\/records$/.test(path)
        ? listOf(objectOf(json).records)
            .flatMap((record) => listOf(objectOf(record).hashedPII))
            .map((pii) => saying(objectOf(pii)))
        : [],
  },
]
