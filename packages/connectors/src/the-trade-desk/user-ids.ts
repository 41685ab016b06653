import { type EventColumn, plain } from '../kit/columns.ts'

const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const noGuid = 'The value is not an ID of the form 8-4-4-4-12.'
/** A digest in Base64, or one with a salt. */
const unifiedId = /^[A-Za-z0-9+/_=-]{20,128}$/
const token = /^[A-Za-z0-9+/_=-]{40,2000}$/
/** Long, and without what an address or a phone number has: these must never be sent by mistake. */
const opaque = /^(?!\+?\d{7,15}$)[A-Za-z0-9*._~:+/=-]{16,2000}$/
const deviceNames = ['maid', 'madid', 'mobile_advertiser_id', 'idfa', 'gaid', 'aaid']

type Kind = readonly [description: string, synonyms: readonly string[], form: RegExp, complaint: string]
const kinds = {
  TDID: ['The Trade Desk’s ID of the person', ['trade_desk_id', 'ttd_id'], guid, noGuid],
  UID2: ['Unified ID 2.0 of the person', ['unified_id', 'raw_uid2'], unifiedId, 'The value is not a UID2.'],
  DAID: ['Advertising ID of a device', deviceNames, guid, noGuid],
  RampID: [
    'RampID of LiveRamp, mapped for The Trade Desk',
    ['ramp_id', 'idl', 'liveramp_id'],
    /^[A-Za-z0-9_-]{49}$|^[A-Za-z0-9_-]{70}$/,
    'The value is not a RampID of 49 or 70 characters.',
  ],
  EUID: ['European Unified ID of the person', ['raw_euid'], unifiedId, 'The value is not an EUID.'],
  UID2Token: [
    'Token of a Unified ID 2.0',
    ['uid2_token', 'uid2_advertising_token'],
    token,
    'The value is not a token of a UID2.',
  ],
  EUIDToken: ['Token of a European Unified ID', ['euid_token'], token, 'The value is not a token of an EUID.'],
  ID5: ['ID5 of the person', ['id5_id'], opaque, 'The value is not an ID5.'],
  NetID: ['netID of the person', ['net_id'], opaque, 'The value is not a netID.'],
  FirstID: ['FirstID of the person', ['first_id'], opaque, 'The value is not a FirstID.'],
} satisfies Record<string, Kind>

/** The kinds of identifiers by which The Trade Desk knows people, as it calls them. */
export type IdType = keyof typeof kinds
export const idTypes = Object.keys(kinds) as IdType[]

/** The column of a kind of identifier. @param at the path of the object that has it by its kind */
export function idColumn(at: string, type: IdType): EventColumn {
  const [description, synonyms, pattern, wanted]: Kind = kinds[type]
  const normalise = type === 'DAID' ? 'device-id' : 'text'
  return plain(`${at}.${type}`, description, { pattern, wanted, identifies: true, normalise, synonyms })
}
