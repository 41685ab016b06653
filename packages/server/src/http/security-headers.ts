const hstsMaxAgeSeconds = 31_536_000

/**
 * Browser features that no page uses. The clipboard is not listed, because the console writes to it. A browser logs an
 * error on every page for an unknown feature, so the list contains only features that Chromium knows.
 */
const unusedFeatures = ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'serial', 'midi']

/**
 * The headers that every answer has: pages and files, replies and refusals, and answers before there is a request. A page
 * replaces the content security policy with its own. A logo allows other sites to show it.
 * @param publicUrl if it is https, browsers must use TLS from then on
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
