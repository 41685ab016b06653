import { column } from '@penstock/connector'

/** Google takes dots and what follows a plus out of addresses at Gmail before it hashes them. */
const email = (description: string) =>
  column({ description, normalise: 'email-gmail', hashed: ['sha256'], oneOf: 'identifier' })
const phone = (description: string) =>
  column({ description, normalise: 'phone-e164', hashed: ['sha256'], oneOf: 'identifier' })

/** Which customer list a row is about, whether its person joins or leaves it, and how to reach that person. */
export const listColumns = {
  segment_name: column({
    description: 'Name of the list to create',
    synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
  }),
  segment_id: column({
    description: 'ID of the list to change, if it exists',
    synonyms: ['audience_id', 'list_id'],
  }),
  action: column({
    description: 'Whether the person is added to the list or removed',
    required: true,
    values: ['add', 'remove'],
  }),
  email: email('E-mail address; it is hashed before it is sent'),
  email_sha256: email('SHA-256 of the e-mail address'),
  phone: phone('Phone number in E.164 form; it is hashed before it is sent'),
  phone_sha256: phone('SHA-256 of the phone number in E.164 form'),
}
