const hstsMaxAgeSeconds = 31_536_000

/** What no page of ours uses; the clipboard, which the console writes to, is not among it. */
const unusedFeatures = ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'serial', 'bluetooth', 'midi']

/**
 * The headers that every answer carries, whatever it is: pages and files, replies and refusals, and what is answered
 * before there is a request. A page replaces the policy of content with its own; a logo allows other sites to show it.
 * @param publicUrl with https, browsers must use TLS from then on
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': unusedFeatures.map((feature) => `${feature}=()`).join(', '),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    ...(publicUrl.startsWith('https://') ? { 'strict-transport-security': `max-age=${hstsMaxAgeSeconds}` } : {}),
  }
}
