/** The kinds of identifiers by which The Trade Desk knows people, as it calls them. */
export const idTypes = [
  ...(['TDID', 'UID2', 'DAID', 'RampID', 'EUID', 'UID2Token', 'EUIDToken', 'ID5', 'NetID', 'FirstID'] as const),
] as const
export type IdType = (typeof idTypes)[number]

const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** A digest in Base64, or one with a salt. */
const unifiedId = /^[A-Za-z0-9+/_=-]{20,128}$/
const token = /^[A-Za-z0-9+/_=-]{40,2000}$/
/** Long, and without what an address or a phone number has. */
const opaque = /^[A-Za-z0-9*._~:+/=-]{16,2000}$/

const forms: Readonly<Record<IdType, readonly [form: RegExp, complaint: string]>> = {
  TDID: [guid, 'The value is not an ID of the form 8-4-4-4-12.'],
  DAID: [guid, 'The value is not an ID of the form 8-4-4-4-12.'],
  UID2: [unifiedId, 'The value is not a UID2.'],
  EUID: [unifiedId, 'The value is not an EUID.'],
  RampID: [/^[A-Za-z0-9_-]{49}$|^[A-Za-z0-9_-]{70}$/, 'The value is not a RampID of 49 or 70 characters.'],
  UID2Token: [token, 'The value is not a token of a UID2.'],
  EUIDToken: [token, 'The value is not a token of an EUID.'],
  ID5: [opaque, 'The value is not an ID5.'],
  NetID: [opaque, 'The value is not a netID.'],
  FirstID: [opaque, 'The value is not a FirstID.'],
}

/** What is wrong with a value as an identifier of a kind: addresses and numbers of people must never get there by mistake. */
export function problemOfId(type: IdType, id: string): string | undefined {
  const [form, complaint] = forms[type]
  return form.test(id) && !/^\+?\d{7,15}$/.test(id) ? undefined : complaint
}
