import { isObject, type JsonObject, parseJson, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'

/** Kinds of identifiers that Lotame names (my.lotame.com, “Supported ID Types”). Each has a separate column. */
export const idTypes = {
  PANO: 'Panorama ID of Lotame',
  PID: 'profile ID of Lotame',
  TPID: 'ID of a third party',
  EMAIL: 'e-mail address, not hashed, which only a bucket of Lotame takes',
  IDFA: 'advertising ID of an Apple device',
  GAID: 'advertising ID of Google on Android devices',
  RIDA: 'advertising ID of a Roku device',
  TVOS: 'advertising ID of an Apple TV',
  CHRM: 'advertising ID of an Android TV or a Chromecast',
  AFAI: 'advertising ID of an Amazon Fire TV Stick',
  MSAI: 'advertiser ID of Microsoft',
  SMSG: 'advertising ID of a Samsung television',
  SONY: 'advertising ID of a Sony television',
  LGTV: 'advertising ID of an LG television',
  FTCH: 'advertising ID of a Fetch TV box',
  HIP4: 'IP address, version 4',
  UUID: 'any other ID of a connected television',
} as const

/** The folder of a day, and the names of its three files. @param startedMs milliseconds since 1970 */
export function namesOf(startedMs: number): { file: string; checksum: string; done: string } {
  const day = new Date(startedMs).toISOString().slice(0, 10).replaceAll('-', '')
  const file = `${day}/segmentmembership.json.gz`
  return { file, checksum: `${file}.md5`, done: `${day}/${day}.done` }
}

/** The lines of a row: an object for each of its identifiers, with the same segments, sightings and consent. */
export function membershipLines(row: BatchRow): Read<string> {
  const ids = identifiersOf(row)
  if ('wrong' in ids) return ids
  const segments = segmentsOf(row.text('audienceSegments') ?? '')
  if (segments === undefined) {
    return wrong('Segments must be names separated by commas, or a JSON list of names.', 'audienceSegments')
  }
  const ips = sightingsOf(row.text('ips'))
  if (ips === undefined) {
    const form = '[{"ip": "192.0.2.7", "timestamps": ["1767225600"]}]'
    return wrong(`Sightings must be a JSON list of objects such as ${form}, with times in seconds since 1970.`, 'ips')
  }
  if (segments.length === 0 && ips.length === 0)
    return wrong('There is no segment and no sighting.', 'audienceSegments')
  const tcfconsent = row.text('tcfConsent')
  const consent = /^(?:true|yes|1)$/i.test(row.text('consent') ?? '')
  if (!consent && tcfconsent === undefined) {
    return wrong('There is no consent, without which Lotame skips the record.', 'consent')
  }
  const others = {
    ...(segments.length > 0 && { segments }),
    ...(ips.length > 0 && { ips }),
    ...(tcfconsent === undefined ? { consent } : { tcfconsent }),
  }
  return { read: ids.read.map(([idtype, userid]) => JSON.stringify({ userid, idtype, ...others })).join('\n') }
}

function identifiersOf(row: BatchRow): Read<(readonly [type: string, id: string])[]> {
  const found = Object.keys(idTypes).flatMap((type) => {
    const id = row.text(type)
    return id === undefined ? [] : [[type, id] as const]
  })
  const [userId, type] = [row.text('userId'), row.text('idType')]
  if (userId !== undefined) {
    if (type === undefined || !/^\w{2,20}$/.test(type)) {
      return wrong('The kind of the identifier is missing, such as IDFA.', 'idType')
    }
    found.push([type.toUpperCase() as keyof typeof idTypes, userId])
  }
  if (found.length === 0) return wrong('There is no identifier.', 'userId')
  const bad = found.find(([, id]) => /[\s\p{Cc}]/u.test(id) || !id.isWellFormed())
  return bad ? wrong('The identifier contains white space or control characters.', fieldOf(row, bad)) : { read: found }
}

const fieldOf = (row: BatchRow, [type, id]: readonly [string, string]): string =>
  row.text(type) === id ? type : 'userId'

/** `[{"name": …}]` from names separated by commas, or from a JSON list. `undefined` for anything else. */
function segmentsOf(text: string): JsonObject[] | undefined {
  if (!/^[[{]/.test(text)) {
    const names = new Set(text.split(',').map((name) => name.trim()))
    return [...names].filter((name) => name !== '').map((name) => ({ name }))
  }
  const list = parseJson(text)
  if (!Array.isArray(list)) return undefined
  const read = list.map((one): JsonObject | undefined => {
    const { name, timestamp } = isObject(one) ? one : { name: one, timestamp: undefined }
    if (textIn(name) === undefined) return undefined
    return { name, ...(Number.isSafeInteger(timestamp) && { timestamp }) }
  })
  return read.every((one) => one !== undefined) ? read : undefined
}

/** Addresses from which a person was seen, with times. `undefined` if it is not such a list. */
function sightingsOf(text: string | undefined): JsonObject[] | undefined {
  if (text === undefined) return []
  const list = parseJson(text)
  if (!Array.isArray(list)) return undefined
  const read = list.map((one): JsonObject | undefined => {
    const { ip, timestamps } = isObject(one) ? one : {}
    const times = Array.isArray(timestamps) ? timestamps.map(String) : []
    const isGood = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(textIn(ip) ?? '') && times.every((time) => /^\d{10}$/.test(time))
    return isGood && times.length > 0 ? { ip, timestamps: times } : undefined
  })
  return read.every((one) => one !== undefined) ? read : undefined
}
