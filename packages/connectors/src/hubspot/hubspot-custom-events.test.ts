import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { hubspotCustomEvents } from './hubspot-custom-events.ts'

const path = '/events/custom/2026-09/send/batch'
const sent = (email: string, properties: object = {}) => ({ eventName: 'pe1_order', email, properties, uuid: 'id' })
const bad = { status: 400, json: { status: 'error', message: 'Property total is not a number' } }

testDescribedDestination({
  connector: hubspotCustomEvents,
  secrets: { accessToken: 'canary-of-hubspot' },
  origin: 'https://api.hubapi.com',
  headers: { authorization: 'Bearer canary-of-hubspot' },
  checks: 'GET /events/custom/2026-09/event-definitions',
  published: 'hubspot',
  examples: [
    {
      title: 'sends refused events in halves',
      operation: 'record events',
      rows: [
        { eventName: 'pe1_order', email: 'a@example.com', properties: null },
        { eventName: 'pe1_order', email: 'b@example.com', properties: '{"total":"x"}' },
      ],
      requests: [
        { path, body: { inputs: [sent('a@example.com'), sent('b@example.com', { total: 'x' })] } },
        { path, body: { inputs: [sent('a@example.com')] } },
        { path, body: { inputs: [sent('b@example.com', { total: 'x' })] } },
      ],
      answers: [bad, { status: 204, text: '' }, bad],
      rejected: [1],
      because: /not a number/,
    },
  ],
})
