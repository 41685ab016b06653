import { type SchemeFacts, type SignatureScheme, signatureSchemes } from '@penstock/connectors'
import { adyenClaims, valueAt } from './adyen.ts'
import { isSignedBy, keyOf, secretProblem as problemOfSecret } from './keys.ts'
import { messageIdOf } from './message-ids.ts'
import { headerOf, jsonOf, type SignedRequest } from './signed-request.ts'
import { decodedSignature, type SignatureClaim, signedTexts } from './signed-text.ts'

/**
 * The result of a check. `messageId` stays the same if the sender repeats the message, and has at most 200 characters.
 * `reason` is a sentence without secrets.
 */
export type SignatureCheck =
  | { readonly isValid: true; readonly messageId?: string }
  | { readonly isValid: false; readonly reason: string }

/** More signatures in one header are ignored. */
const signaturesMax = 5

/**
 * Checks the signature of a webhook by the facts of its scheme. It uses nothing else: no network, no clock, no state.
 * A request can contain anything and never makes it throw. A replay within the tolerance of the scheme is valid. The
 * caller detects it by `messageId`.
 */
export function checkSignature(scheme: SignatureScheme, request: SignedRequest): SignatureCheck {
  const facts = signatureSchemes[scheme]
  const refused = (reason: string): SignatureCheck => ({ isValid: false, reason })
  const keys = request.secrets.flatMap((secret) => keyOf(facts, secret) ?? [])
  if (keys.length === 0) {
    const [secret] = request.secrets
    const problem = secret === undefined ? undefined : problemOfSecret(facts, secret)
    return refused(problem ?? `No secret is set for ${facts.label}.`)
  }
  const claims = claimsOf(facts, request)
  if (typeof claims === 'string') return refused(claims)
  if (!claims.every(({ texts, signatures }) => isSignedBy(facts, keys, texts, signatures))) {
    return refused(
      `The signature does not match. Check that the secret is the current ${facts.secret} of ${facts.label}.`,
    )
  }
  const messageId = messageIdOf(facts, request)
  return messageId === undefined ? { isValid: true } : { isValid: true, messageId }
}

/** Why a secret cannot be used for a scheme, or `undefined` if it can. The sentence does not contain the secret. */
export const secretProblem = (scheme: SignatureScheme, secret: string): string | undefined =>
  problemOfSecret(signatureSchemes[scheme], secret)

/** The signatures of a request, which must all be valid, or a sentence about what is missing. */
function claimsOf(facts: SchemeFacts, request: SignedRequest): readonly SignatureClaim[] | string {
  const { place } = facts
  if ('each' in place) return adyenClaims(jsonOf(request))
  if ('member' in place) {
    const value = valueAt(jsonOf(request, true), place.member.split('.'))
    if (typeof value !== 'string') return `The body is not a JSON object with the text \`${place.member}\`.`
    return [{ texts: [[]], signatures: [Buffer.from(value)] }]
  }
  const [name = ''] = place.headers
  const header = headerOf(request, ...place.headers)
  if (header === undefined) return `The header ${name} is missing.`
  const written = 'item' in place ? itemsOf(header, place, place.item) : withoutPrefix(header, place.prefix)
  const signatures = written.slice(0, signaturesMax).flatMap((one) => decodedSignature(one, facts.encoding) ?? [])
  if (signatures.length === 0) return `The header ${name} does not contain a signature of ${facts.label}.`
  const timestamp = timestampOf(facts, request, header)
  const problem = facts.time && timeProblem(facts.time, timestamp, request.nowMs)
  if (problem !== undefined) return problem
  const texts = signedTexts(facts, request, timestamp)
  if (texts.length > 0) return [{ texts, signatures }]
  return facts.id && 'header' in facts.id && headerOf(request, facts.id.header) === undefined
    ? `The header ${facts.id.header} is missing.`
    : `The body is not what ${facts.label} signed.`
}

const withoutPrefix = (header: string, prefix = ''): string[] =>
  header.startsWith(prefix) ? [header.slice(prefix.length)] : []

/** The values of the items with a name. */
const itemsOf = (header: string, { between, separator }: { between: string; separator: string }, name: string) =>
  header
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item.startsWith(name + between))
    .map((item) => item.slice(name.length + between.length))

function timestampOf({ time, place }: SchemeFacts, request: SignedRequest, header: string): string | undefined {
  if (time?.header !== undefined) return headerOf(request, time.header)
  return time?.item !== undefined && 'item' in place ? itemsOf(header, place, time.item)[0] : undefined
}

/** Why a time is refused: it is missing, not a time, or too far from now. */
function timeProblem(time: NonNullable<SchemeFacts['time']>, text: string | undefined, nowMs: number) {
  const { unit, toleranceMs } = time
  const place = time.header === undefined ? `item ${time.item} of the signature` : `header ${time.header}`
  if (text === undefined) return `The ${place} is missing.`
  const timeMs = readTimeMs(text, unit)
  if (timeMs === undefined) return `The ${place} is not a time in ${unit === 'date' ? 'a known format' : unit}.`
  const seconds = Math.round(Math.abs(nowMs - timeMs) / 1000)
  if (Math.abs(nowMs - timeMs) <= toleranceMs) return undefined
  return `The ${place} is ${seconds} s ${timeMs < nowMs ? 'before' : 'after'} the current time. The limit is ${toleranceMs / 1000} s.`
}

/** A time in ms. A date without a time zone is in UTC. */
function readTimeMs(text: string, unit: NonNullable<SchemeFacts['time']>['unit']): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text) * (unit === 'milliseconds' ? 1 : 1000)
  if (unit !== 'date' || text.length > 40) return undefined
  const timeMs = Date.parse(/^\d{4}-\d\d-\d\dT[\d:.]+$/.test(text) ? `${text}Z` : text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}
