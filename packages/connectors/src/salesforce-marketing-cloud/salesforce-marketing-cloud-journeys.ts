import { inspectBy, text } from '@penstock/connector'
import { eventId, object, plain } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { client } from './client.ts'
import { journeysApi, tenantOf } from './journeys-api.ts'
import { salesforceMarketingCloud } from './platform.ts'

/** Entry events of journeys of Marketing Cloud. A request has one of them. */
export const salesforceMarketingCloudJourneys = eventDestination({
  slug: 'salesforce-marketing-cloud-journeys',
  name: 'Salesforce Marketing Cloud Journeys',
  platform: salesforceMarketingCloud,
  dataType: 'events',
  description: 'Lets contacts enter journeys of Marketing Cloud by API events.',
  notes:
    'The journey must be active and begin with an API event. A contact that Marketing Cloud does not know is created with its contact key. The object in data must have all attributes that the event definition requires, with their exact names. Marketing Cloud takes one event with a request and does not recognise repeated ones: a batch that is interrupted may send up to ten events again, and the settings of the journey decide whether a contact can enter again. The installed package needs a server-to-server API integration with the scope Journeys Execute. Send only people who have agreed to it.',
  tested:
    'Our own test server, which follows Salesforce’s published documentation of its REST API; not Marketing Cloud itself.',
  api: { version: 'REST v1, tokens v2', ends: 'No end is known.' },
  platformApi: journeysApi,
  auth: {
    open: async (context) => (await import('./marketing-cloud-api.ts')).tokensOf(context, tenantOf(context)),
  },
  secrets: {
    ...client,
    subdomain: text({
      label: 'Subdomain',
      description: 'Part of the authentication base URI before its first dot',
      required: true,
      binds: ['clientSecret'],
    }),
  },
  check: async (context) => (await import('./check-journeys.ts')).checkJourneys(context),
  inspect: inspectBy(async (context) => (await import('./check-journeys.ts')).assertClient(context)),
  settings: {
    eventDefinitionKey: text({
      asked: true,
      label: 'Event definition key',
      description: 'Key of the API event for rows without one: APIEvent-…',
    }),
  },
  batch: { rowsMax: 10, bytesMax: 500_000 },
  // Each event is sent separately. Its ID is its target.
  targets: { at: '@id', field: 'contact_key' },
  request: ([event = {}]) => ({ path: '/events', body: event }),
  answer: {
    refuses: [400],
    refusal: 'Marketing Cloud does not accept the event; check the event definition key and the attributes in data',
    confirms: ({ json }) => textIn(objectIn(json).eventInstanceId) !== undefined,
  },
  columns: {
    contact_key: plain('ContactKey', 'Key of the contact in Marketing Cloud', {
      identifies: true,
      required: true,
      normalise: 'text',
      missing: 'The contact key is missing.',
      synonyms: ['subscriber_key', 'contactkey', 'customer_id', 'user_id'],
    }),
    event_definition_key: plain('EventDefinitionKey', 'Key of the API event, if not the one of the connection', {
      setting: 'eventDefinitionKey',
      missing: 'Neither the row nor the connection has the key of an event definition.',
      synonyms: ['event_key'],
      addresses: true,
    }),
    data: object('Data', 'JSON object with the attributes of the event: {"Email": "a@example.com"}', {
      synonyms: ['attributes', 'properties'],
    }),
    // It is not sent, and distinguishes the events of a batch.
    event_id: eventId('@id', 'Your own ID of the event, which is not sent'),
  },
})
