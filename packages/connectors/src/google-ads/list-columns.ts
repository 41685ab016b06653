import { column } from '@penstock/connector'

/** Which customer list a row is about, whether its person joins or leaves it, and how to reach that person. */
export const listColumns = {
  segment_name: column({ description: 'Name for a list that is to be created' }),
  segment_id: column({ description: 'ID of the list to change, where it already exists' }),
  action: column({
    description: 'Whether the person joins the list or leaves it',
    required: true,
    values: ['add', 'remove'],
  }),
  email: column({ description: 'E-mail address; it is hashed before it leaves', oneOf: 'identifier' }),
  email_sha256: column({ description: 'SHA-256 of the e-mail address', hashed: ['sha256'], oneOf: 'identifier' }),
  phone: column({ description: 'Phone number in E.164 form; it is hashed before it leaves', oneOf: 'identifier' }),
  phone_sha256: column({
    description: 'SHA-256 of the phone number in E.164 form',
    hashed: ['sha256'],
    oneOf: 'identifier',
  }),
}
