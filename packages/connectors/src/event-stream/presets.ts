import { catalogueId } from '@penstock/connector'
import { adjustPreset } from '../adjust/preset.ts'
import { appsflyerPreset } from '../appsflyer/preset.ts'
import { branchPreset } from '../branch/preset.ts'
import { googleAdsLeadPreset } from '../google-ads/lead-preset.ts'
import { linkedinLeadPreset } from '../linkedin-ads/lead-preset.ts'
import { metaLeadPreset } from '../meta-ads/lead-preset.ts'
import { mparticlePreset } from '../mparticle/preset.ts'
import { radarPreset } from '../radar/preset.ts'
import { tiktokLeadPreset } from '../tiktok-ads/lead-preset.ts'
import type { StreamPreset } from './preset-facts.ts'
import { type SignatureScheme, signatureSchemes } from './signature-schemes.ts'

const presets: readonly StreamPreset[] = [
  adjustPreset,
  appsflyerPreset,
  branchPreset,
  googleAdsLeadPreset,
  linkedinLeadPreset,
  metaLeadPreset,
  mparticlePreset,
  radarPreset,
  tiktokLeadPreset,
]
const byId = new Map(presets.map((preset) => [catalogueId('connector', preset.slug), preset]))

/** The facts of the sender for which a connector receives events. `undefined` if it accepts any sender. */
export const presetOf = (connectorId: string): StreamPreset | undefined => byId.get(connectorId)

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The events in the values of a body, as the sender wraps them. A value without events does not change. */
export function unwrapped(
  { unwrap, omitted = [], named, callback }: StreamPreset,
  values: readonly unknown[],
): readonly unknown[] {
  // A placeholder without a value leaves an empty parameter.
  if (callback) return values.map((value) => (isObject(value) ? withoutEmpty(value) : value))
  const events = unwrap.reduce<readonly unknown[]>(
    (found, keys) => found.flatMap((one) => within(one, keys, omitted)),
    values,
  )
  return named ? events.map((event) => (isObject(event) ? withNames(event, named) : event)) : events
}

/** A message whose sender expects an answer. */
export type AnsweredMessage = {
  readonly answer: Json
  /** The message, or nothing if it has no events. */
  readonly values: readonly unknown[]
  /** Whether it is answered without the secret, and not stored. */
  readonly isOpen: boolean
}

/**
 * A message with its answer. `undefined` if the sender expects no answer. A text says why there is no answer.
 * @param nowMs the time of the answer
 */
export function answeredMessage(
  { name, answers }: StreamPreset,
  values: readonly unknown[],
  nowMs: number,
): AnsweredMessage | string | undefined {
  if (!answers) return undefined
  const [message] = values
  const type = isObject(message) ? message[answers.by] : undefined
  const found = typeof type === 'string' && Object.hasOwn(answers.types, type) ? answers.types[type] : undefined
  if (!found || !isObject(message) || values.length !== 1) {
    return `is not a message for ${name}: \`${answers.by}\` must be one of ${Object.keys(answers.types).join(', ')}`
  }
  const { body, holds, isOpen = false } = found
  const repeated = Object.fromEntries(answers.repeats.map((key) => [key, message[key]]))
  const isProbe = holds !== undefined && !Array.isArray(message[holds])
  return { answer: { ...body, ...repeated, [answers.time]: nowMs }, values: isProbe || isOpen ? [] : values, isOpen }
}

/**
 * The address that a sender calls for each event, with its placeholders. `undefined` if it sends bodies.
 * @param address the address of the stream
 * @param key a placeholder for the write key
 */
export function callbackAddress(connectorId: string, address: string, key: string): string | undefined {
  const { callback } = presetOf(connectorId) ?? {}
  if (!callback) return undefined
  const parameters = Object.entries(callback).map(([name, placeholder]) => `&${name}=${placeholder}`)
  return `${address}/pixel.gif?writeKey=${key}${parameters.join('')}`
}

/** Values of a body without the member in which the sender repeats its secret. */
export function withoutSecret(scheme: SignatureScheme, values: readonly unknown[]): readonly unknown[] {
  const { place, algorithms = [] } = signatureSchemes[scheme]
  if (!('member' in place) || !algorithms.includes('equal')) return values
  return values.map((value) => withoutAt(value, place.member.split('.')))
}

/** The values under a key of an object, with its other keys. */
function within(value: unknown, keys: readonly string[], omitted: readonly string[]): readonly unknown[] {
  if (!isObject(value)) return [value]
  const key = keys.find((one) => typeof value[one] === 'object' && value[one] !== null)
  if (key === undefined) return [value]
  const around = without(value, [key, ...omitted])
  return [value[key]].flat().map((one) => (isObject(one) ? Object.assign({}, around, one) : one))
}

/** A value without the member at a path of keys. */
function withoutAt(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  if (!isObject(value) || !Object.hasOwn(value, name)) return value
  return rest.length === 0 ? without(value, [name]) : { ...value, [name]: withoutAt(value[name], rest) }
}

const withoutEmpty = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== ''))

/** An event whose lists of names and values are objects. */
function withNames(event: Json, lists: NonNullable<StreamPreset['named']>): Json {
  const found = Object.entries(lists).flatMap(([member, of]) => {
    const list = event[member]
    if (!Array.isArray(list) || list.length === 0) return []
    const entries = list.map((one): [unknown, unknown] => {
      if (!isObject(one)) return [null, null]
      return [one[of.name], of.value === undefined ? without(one, [of.name]) : one[of.value]]
    })
    const names = new Set(entries.map(([name]) => name))
    if (names.size < entries.length || entries.some(([name]) => typeof name !== 'string' || name === '')) return []
    return [[member, Object.fromEntries(entries)] as const]
  })
  return { ...event, ...Object.fromEntries(found) }
}

const without = (object: Json, keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
