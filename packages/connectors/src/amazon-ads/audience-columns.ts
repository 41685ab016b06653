import { column, type Normalisation } from '@penstock/connector'

/** Which audience a row is about, and whether its person joins or leaves it. */
export const membershipColumns = {
  segment_name: column({ description: 'Name of the audience to create' }),
  segment_id: column({ description: 'ID of the audience to change, if it exists' }),
  action: column({
    description: 'Whether the person is added to the audience or removed',
    required: true,
    values: ['add', 'remove'],
  }),
}

const digest = (description: string, normalise: Normalisation) =>
  column({ description, normalise, hashed: ['sha256'], oneOf: 'identifier' })
const plain = (description: string) => column({ description, oneOf: 'identifier' })

/** The columns of Amazon Data Manager: personal data as digests, identifiers of devices and partners unchanged. */
export const dataManagerColumns = {
  ...membershipColumns,
  email_sha256: digest('SHA-256 of the e-mail address', 'email'),
  phone_sha256: digest('SHA-256 of the phone number in E.164 form, without the plus sign', 'phone-digits'),
  // Amazon leaves out the spaces of names and streets, as others do of cities only.
  fname_sha256: digest('SHA-256 of the first name', 'city'),
  lname_sha256: digest('SHA-256 of the last name', 'city'),
  address_sha256: digest('SHA-256 of the street address', 'city'),
  city_sha256: digest('SHA-256 of the city', 'city'),
  state_sha256: digest('SHA-256 of the state’s two-letter code', 'state'),
  zip_sha256: digest('SHA-256 of the postal code', 'postal-code'),
  maid: plain('Advertising ID of the device, not hashed: IDFA on iOS, GAID on Android'),
  liveramp_id: plain('LiveRamp identifier, not hashed'),
  transunion_id: plain('TransUnion identifier, not hashed'),
  neustar_id: plain('Neustar identifier, not hashed'),
  merkle_id: plain('Merkle identifier, not hashed'),
  experian_id: plain('Experian identifier, not hashed'),
  kantar_id: plain('Kantar identifier, not hashed'),
  real_id: plain('RealId identifier, not hashed'),
  samba_tv_id: plain('Samba TV identifier, not hashed'),
}
