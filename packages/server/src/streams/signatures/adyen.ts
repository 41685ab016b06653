import { decodedSignature, type SignatureClaim } from './signed-text.ts'

/** The signed members of an entry, in this order. A member that is missing is empty. */
const signedMembers = [
  ['pspReference'],
  ['originalReference'],
  ['merchantAccountCode'],
  ['merchantReference'],
  ['amount', 'value'],
  ['amount', 'currency'],
  ['eventCode'],
  ['success'],
]

/** The signature of every entry of a notification, or a sentence about the entry without a signature. */
export function adyenClaims(body: unknown): readonly SignatureClaim[] | string {
  const entries = valueAt(body, ['notificationItems'])
  if (!Array.isArray(entries) || entries.length === 0) return 'The body is not a notification of Adyen.'
  const claims = entries.flatMap((entry): SignatureClaim[] => {
    const item = valueAt(entry, ['NotificationRequestItem'])
    const written = valueAt(item, ['additionalData', 'hmacSignature'])
    const signature = typeof written === 'string' ? decodedSignature(written, 'base64') : undefined
    const values = signedMembers.map((path) => valueAt(item, path) ?? '')
    if (signature === undefined || values.some((value) => typeof value === 'object')) return []
    return [{ texts: [[values.join(':')]], signatures: [signature] }]
  })
  return claims.length === entries.length ? claims : 'An entry of `notificationItems` has no `hmacSignature`.'
}

/** The value at a path of members. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inside, name) =>
      typeof inside === 'object' && inside !== null && Object.hasOwn(inside, name)
        ? Reflect.get(inside, name)
        : undefined,
    value,
  )
}
