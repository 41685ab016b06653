import { Analytics } from '@segment/analytics-node'

/** Sends events with `@segment/analytics-node`, as its documentation shows. Prints the errors that it reports. */

const { HOST = '', WRITE_KEY = '', PERSON = '' } = process.env
const analytics = new Analytics({ host: HOST, writeKey: WRITE_KEY, flushAt: 10, flushInterval: 500 })
const errors: unknown[] = []
analytics.on('error', (error) => errors.push(error))
for (let number = 0; number < 40; number++) {
  analytics.track({ userId: PERSON, event: 'Order completed', properties: { number, total: 19.5, currency: 'EUR' } })
}
analytics.identify({ userId: PERSON, traits: { email: 'ada@example.com', plan: 'pro' } })
analytics.page({ userId: PERSON, category: 'docs', name: 'Start', properties: { url: 'https://example.com/start' } })
analytics.screen({ userId: PERSON, name: 'Cart' })
analytics.group({ userId: PERSON, groupId: 'acme', traits: { employees: 7 } })
analytics.alias({ userId: PERSON, previousId: `${PERSON}-before` })
await analytics.closeAndFlush({ timeout: 60_000 })
console.log(JSON.stringify({ errors: errors.map(String) }))
