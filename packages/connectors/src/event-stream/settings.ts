import { BlockList, isIP } from 'node:net'

/** The settings of a stream that are lists, for the form and for the receiver of events. */

/** Entries of a list, separated by commas or white space. */
export const entriesOf = (list: unknown): string[] =>
  String(list ?? '')
    .split(/[\s,]+/)
    .filter(Boolean)

export const errorOfOrigins = (list: string): string | undefined => {
  const wrong = entriesOf(list).find((entry) => URL.parse(entry)?.origin !== entry || !/^https?:/.test(entry))
  return wrong === undefined
    ? undefined
    : `contains ${wrong}, which is not an origin. Expected a scheme, a host and an optional port: https://shop.example.com`
}

export const errorOfAddresses = (list: string): string | undefined => {
  const wrong = entriesOf(list).find((entry) => !isRange(entry))
  return wrong === undefined
    ? undefined
    : `contains ${wrong}, which is not an IP address or a range. Expected values like 192.0.2.7 or 2001:db8::/32`
}

function isRange(entry: string): boolean {
  const [address = '', bits, ...more] = entry.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

/** The ranges of a valid list. Undefined if it is empty. */
export function rangesOf(list: unknown): BlockList | undefined {
  const entries = entriesOf(list)
  if (entries.length === 0) return undefined
  const ranges = new BlockList()
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) ranges.addAddress(address, family)
    else ranges.addSubnet(address, Number(bits), family)
  }
  return ranges
}

export const errorOfPointer = (pointer: string): string | undefined =>
  /^(?:\/(?:[^/~]|~[01])+)+$/.test(pointer) ? undefined : 'is not a JSON pointer. Expected a value like /event/id'
