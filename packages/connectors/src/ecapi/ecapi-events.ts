import { createHash } from 'node:crypto'
import { ConnectorError, number, secret, select, text, type Values } from '@penstock/connector'
import { serversOf } from '../http-api/api/servers.ts'
import { restApi } from '../kit/api.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { isSuccess } from '../platform-api/call.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { ecapiColumns, ecapiForm } from './columns.ts'
import { ecapiReceivers } from './platform.ts'

const several = ['list', 'data', 'events']

/** Events in the form of the standard ECAPI, for any receiver. */
export const ecapiEvents = eventDestination({
  slug: 'ecapi-events',
  name: 'ECAPI Events',
  platform: ecapiReceivers,
  dataType: 'Conversions',
  description: 'Sends events in the form of ECAPI 1.0, the standard of the IAB Tech Lab, to any receiver of it.',
  notes:
    'The standard leaves the address, the authentication and the form of several events in a request to the receiver: enter what its documents say. The receiver merges events with the same data set and id. Personal data is hashed with SHA-256 as the standard says. Values that are already hashed do not change. The standard has no answer for single events: if the receiver refuses a request with several events (400 or 422), it is sent in halves until the refused events are alone. A check sends nothing, because the standard has no request without an event.',
  tested: 'Our own test server, which follows the text of ECAPI 1.0; no other receiver.',
  api: { version: 'ECAPI 1.0', ends: 'No end is known.' },
  secrets: {
    endpoint: text({
      label: 'Endpoint',
      description: 'Address to which events are posted, such as https://events.example.com/v1/events',
      required: true,
      binds: ['apiToken'],
    }),
    headerName: text({
      label: 'Header',
      description: 'Header with the token, such as X-API-Key; by default Authorization, with Bearer and the token',
      binds: ['apiToken'],
    }),
    apiToken: secret({ label: 'Token', description: 'Token of the receiver, if it needs one' }),
  },
  platformApi: ({ secrets }) =>
    restApi({
      name: 'The receiver',
      baseUrl: serversOf({ url: secrets.endpoint ?? '' }).base.href,
      headers: { accept: 'application/json' },
      errors: {
        statuses: {
          400: 'invalid_batch',
          422: 'invalid_batch',
          401: ['invalid_credentials', 'Check the token and the header in the connector.'],
          404: ['object_not_found', 'Check the endpoint and the data set ID.'],
        },
      },
    }),
  auth: { open: async ({ secrets }) => ({ renews: false, headers: async () => signIn(secrets) }) },
  settings: {
    dataSetId: text({
      asked: true,
      label: 'Data set ID',
      description: 'ID of the data set at the receiver, for rows without one',
    }),
    currency: text({
      label: 'Currency',
      description: 'Currency of values in rows without one, as a three-letter code: EUR',
    }),
    body: select({
      keepsState: 'pace',
      label: 'Request',
      description: 'What a request contains',
      options: ['event', ...several],
      labels: {
        event: 'One event',
        list: 'A list of events',
        data: 'An object with data',
        events: 'An object with events',
      },
      default: 'event',
    }),
    eventsPerRequest: number({
      keepsState: 'pace',
      label: 'Events per request',
      description: 'Maximum number of events in a request',
      default: 100,
      min: 1,
      max: 1000,
      when: { body: several },
    }),
  },
  batch: { rowsMax: 1000, bytesMax: 1_000_000 },
  requestMax: ({ body = 'event', eventsPerRequest }) => ({
    events: body === 'event' ? 1 : Number(eventsPerRequest ?? 100),
    bytes: 1_000_000,
  }),
  request: (events, { settings: { body = 'event' } }) => ({
    path: '',
    method: 'POST',
    body: body === 'event' ? events[0] : body === 'list' ? events : { [String(body)]: events },
  }),
  answer: {
    refuses: [400, 422],
    refusal: 'The receiver does not accept the event',
    // The standard decides by the status. An answer that is not JSON can come from another server.
    confirms: (answer) => isSuccess(answer) && (answer.text === '' || isObject(answer.json)),
  },
  probe: null,
  person: { anyOf: [], missing: '', field: '' },
  needs: [{ at: 'event_type', is: ['custom'], paths: ['custom_event'], missing: 'A custom event needs its name.' }],
  columns: ecapiColumns,
  ecapi: ecapiForm,
  finish: completed,
})

function signIn({ headerName, apiToken }: Values): Record<string, string> {
  if (apiToken === undefined) return {}
  const name = String(headerName ?? '').trim()
  if (!/^[\x21-\x7e]+$/.test(String(apiToken)) || !/^[\w-]*$/.test(name)) {
    throw new ConnectorError('invalid_credentials', 'The token or the header has characters that no header can have.')
  }
  return name === '' ? { authorization: `Bearer ${apiToken}` } : { [name.toLowerCase()]: String(apiToken) }
}

const words: Readonly<Record<string, string>> = { f: 'female', m: 'male', n: 'non-binary' }

/** Puts the address into its list, hashes the gender, and reads the sections of the consent string. */
function completed(event: JsonObject): Read<JsonObject> {
  const { '@address': own, '@gender': gender, '@sections': sections, ...rest } = event
  const user = objectIn(rest.user_data)
  const [first, ...others] = listIn(user.address)
  const address = { ...objectIn(first), ...objectIn(own) }
  const kind = Number(address.address_type)
  const numbers = listIn(sections).map(Number)
  if (!numbers.every((number) => Number.isSafeInteger(number) && number > 0)) {
    return wrong('The sections must be whole numbers.', 'gpp_sid')
  }
  return {
    read: {
      ...rest,
      user_data: {
        ...user,
        ...(Object.keys(address).length > 0 && {
          address: [{ ...address, ...(Number.isInteger(kind) && { address_type: kind }) }, ...others],
        }),
        ...(textIn(gender) && { gender: hashedGender(String(gender)) }),
        ...(numbers.length > 0 && { gpp_sid: numbers }),
      },
    },
  }
}

function hashedGender(text: string): string {
  const word = text.trim().toLowerCase()
  return isSha256(word)
    ? word
    : createHash('sha256')
        .update(words[word] ?? word)
        .digest('hex')
}
