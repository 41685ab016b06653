import { secret } from '@penstock/connector'
import { bearer, idSetting, restApi } from '../../../src/kit/api.ts'
import { currency, decimal, digest, eventId, plain, time } from '../../../src/kit/columns.ts'
import { eventDestination } from '../../../src/kit/event-destination.ts'
import { numberIn, objectIn } from '../../../src/platform-api/json.ts'
import { exampleAds } from '../platform.ts'

/** Events for Example Connector. */
export const exampleConnector = eventDestination({
  slug: 'example-connector',
  name: 'Example Connector',
  platform: exampleAds,
  dataType: 'Conversions',
  description: 'Reports events to Example Connector.',
  notes: 'Limits, delays, and agreements that a person must know of before use.',
  tested: 'Our own test server, which follows the published documentation of the platform; not the platform itself.',
  api: { version: 'v1', ends: 'No end is known.' },
  platformApi: restApi({
    name: 'Example Connector',
    baseUrl: 'https://api.example.com/v1',
    errors: {
      statuses: {
        400: 'invalid_batch',
        401: ['invalid_credentials', 'Create a new access token and save it in the connector.'],
        403: ['permission_denied', 'Give the user of the token access to the data set.'],
        404: ['object_not_found', 'Check the data set ID.'],
        429: 'rate_limited',
      },
    },
  }),
  auth: bearer('accessToken'),
  secrets: {
    accessToken: secret({ label: 'Access token', description: 'Token of the platform', required: true }),
  },
  settings: {
    dataSetId: idSetting({
      label: 'Data set ID',
      description: 'ID of the data set that the events belong to',
      required: true,
      pattern: /^\d{1,20}$/,
      example: '12345',
    }),
  },
  batch: { rowsMax: 1000, bytesMax: 1_000_000 },
  request: (events, { settings }) => ({ path: `/data_sets/${settings.dataSetId}/events`, body: { events } }),
  answer: {
    refuses: [400],
    refusal: 'The platform does not accept the event',
    confirms: ({ json }, sent) => numberIn(objectIn(json).accepted) === sent,
  },
  probe: { names: 'data set', credentials: 'access token', stranger: { dataSetId: '0' } },
  columns: {
    event_name: plain('name', 'Name of the event', { required: true, synonyms: ['event'] }),
    event_time: time('time', 'When it happened: ISO 8601 with its zone, or seconds or milliseconds since 1970', {
      unit: 'seconds',
      daysMax: 7,
      synonyms: ['timestamp'],
    }),
    event_id: eventId('id', 'ID by which the platform recognises a repeated event'),
    email: digest('user.email', 'E-mail address', 'email'),
    value: decimal('value', 'Value of the event', { min: 0 }),
    currency: currency('currency', 'Currency of the value, as three letters'),
  },
})
