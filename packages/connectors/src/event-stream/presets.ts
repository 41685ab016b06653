import { catalogueId } from '@penstock/connector'
import { appsflyerPreset } from '../appsflyer/preset.ts'
import { branchPreset } from '../branch/preset.ts'
import { googleAdsLeadPreset } from '../google-ads/lead-preset.ts'
import { metaLeadPreset } from '../meta-ads/lead-preset.ts'
import { radarPreset } from '../radar/preset.ts'
import type { StreamPreset } from './preset-facts.ts'
import { type SignatureScheme, signatureSchemes } from './signature-schemes.ts'

const presets: readonly StreamPreset[] = [
  appsflyerPreset,
  branchPreset,
  googleAdsLeadPreset,
  metaLeadPreset,
  radarPreset,
]
const byId = new Map(presets.map((preset) => [catalogueId('connector', preset.slug), preset]))

/** The facts of the sender for which a connector receives events; `undefined` if it is for any sender. */
export const presetOf = (connectorId: string): StreamPreset | undefined => byId.get(connectorId)

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The events in the values of a body, as the sender wraps them. A value without events stays as it is. */
export const unwrapped = ({ unwrap }: StreamPreset, values: readonly unknown[]): readonly unknown[] =>
  unwrap.reduce<readonly unknown[]>((found, keys) => found.flatMap((one) => within(one, keys)), values)

/** Values of a body without the member in which the sender repeats its secret. */
export function withoutSecret(scheme: SignatureScheme, values: readonly unknown[]): readonly unknown[] {
  const { place, algorithms = [] } = signatureSchemes[scheme]
  if (!('member' in place) || !algorithms.includes('equal')) return values
  return values.map((value) => (isObject(value) ? without(value, [place.member]) : value))
}

/** The values under a key of an object, with its other keys. */
function within(value: unknown, keys: readonly string[]): readonly unknown[] {
  if (!isObject(value)) return [value]
  const key = keys.find((one) => typeof value[one] === 'object' && value[one] !== null)
  if (key === undefined) return [value]
  const around = without(value, [key])
  return [value[key]].flat().map((one) => (isObject(one) ? Object.assign({}, around, one) : one))
}

const without = (object: Json, keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
