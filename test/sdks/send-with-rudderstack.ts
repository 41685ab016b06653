import Analytics from '@rudderstack/rudder-sdk-node'

/** Sends events with `@rudderstack/rudder-sdk-node`, as its documentation shows. Prints the errors that it reports. */

const { HOST = '', WRITE_KEY = '', PERSON = '' } = process.env
const errors: unknown[] = []
const analytics = new Analytics(WRITE_KEY, {
  dataPlaneUrl: HOST,
  flushAt: 10,
  flushInterval: 500,
  errorHandler: (error: unknown) => void errors.push(error),
})
for (let number = 0; number < 40; number++) {
  analytics.track({ userId: PERSON, event: 'Order completed', properties: { number, total: 19.5, currency: 'EUR' } })
}
analytics.identify({ userId: PERSON, traits: { email: 'ada@example.com', plan: 'pro' } })
analytics.page({ userId: PERSON, name: 'Start', properties: { url: 'https://example.com/start' } })
analytics.screen({ userId: PERSON, name: 'Cart' })
analytics.group({ userId: PERSON, groupId: 'acme', traits: { employees: 7 } })
analytics.alias({ userId: PERSON, previousId: `${PERSON}-before` })
await new Promise<void>((resolve) => analytics.flush(() => resolve()))
console.log(JSON.stringify({ errors: errors.map(String) }))
