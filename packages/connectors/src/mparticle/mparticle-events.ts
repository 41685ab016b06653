import { ConnectorError, column, type Records, secret, select } from '@penstock/connector'
import { describedErasure } from '../described/described-erasure.ts'
import { restApi } from '../kit/api.ts'
import { asWritten, eventId, object, oneOf, plain, recordOf, time, whole } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { presetSource } from '../kit/file-preset.ts'
import { type JsonObject, objectIn, textIn } from '../platform-api/json.ts'
import { filled } from '../platform-api/rows/event-values.ts'
import type { Read } from '../platform-api/rows/events.ts'
import { bucketSecrets, eventFiles, withBucketKeys } from './event-files.ts'
import { mparticle } from './platform.ts'
import { originOf, regions } from './region.ts'

const texts = { as: 'texts' } as const
/** An identifier by which mParticle finds a person or a device. Unusable identifiers are omitted. */
const identifies = { identifies: true } as const
const badKeys = ['invalid_credentials', 'Check the key and the secret, and the region of the account.'] as const

const identity = { value: '{{ person }}', encoding: 'raw' }
/** A demand by the standard OpenDSR. A repetition is refused, and means that the demand is known. */
const erasedBy = (person: object) => ({
  path: '/requests/',
  body: {
    regulation: 'gdpr',
    subject_request_id: '{{ id }}',
    subject_request_type: 'erasure',
    submitted_time: '{{ now() }}',
    api_version: '3.0',
    ...person,
  },
  errors: [
    { status: 400, contains: 'already exists', action: 'accept' },
    { status: 409, action: 'accept' },
  ],
  result: { refused: 400, reason: '{{ response.message }}' },
})

/** The columns of events from mParticle and of events for it. */
const common = {
  event_id: plain('@id', 'ID of the event'),
  event_num: whole('data.event_num', 'Position of the event in its sequence'),
  source_message_id: eventId('data.source_message_id', 'ID of the message from which the event came'),
  session_id: whole('data.session_id', 'Number of the session'),
  session_uuid: plain('data.session_uuid', 'UUID of the session'),
  timestamp_unixtime_ms: time(
    'data.timestamp_unixtime_ms',
    'When it happened: ISO 8601 with its time zone, or seconds or milliseconds since 1970',
    {
      unit: 'milliseconds',
      daysMax: 30,
      required: false,
      missing: 'The timestamp of the event is missing.',
      synonyms: ['event_time', 'timestamp', 'occurred_at'],
    },
  ),
  location: object('data.location', 'Object with the place where it happened'),
  device_current_state: object(
    'data.device_current_state',
    'Object that describes the state of the device at that time',
  ),
  custom_attributes: object('data.custom_attributes', 'Object with custom attributes', texts),
  custom_flags: object('data.custom_flags', 'Object with custom flags', texts),
  event_type: oneOf('event_type', 'What kind of event it is', {
    values: asWritten('custom_event', 'screen_view', 'session_start', 'session_end'),
    wanted: 'custom_event, screen_view, session_start or session_end',
    usual: 'custom_event',
  }),
}
const received: Records = {
  ...Object.fromEntries(Object.entries(common).map(([name, one]) => [name, recordOf(one)])),
  timestamp_unixtime_ms: column({ description: 'When it happened, in milliseconds since 1970' }),
}

/** Events from mParticle, and events for it. */
export const mparticleEvents = eventDestination({
  slug: 'mparticle-events',
  name: 'mParticle Events',
  platform: mparticle,
  dataType: 'events',
  status: 'preview',
  description:
    'Reads events that mParticle forwards to Amazon S3, and delivers events to it through its HTTP Events API.',
  notes:
    'As a source, it reads the files of mParticle’s Amazon S3 integration, to which mParticle forwards events: create a bucket, connect it as an output of mParticle, and enter here an access key that may list and read it. A row is an event, with what its batch says of the person and the device; nested values are JSON. Batches without events give no rows. A transfer reads the files whose names have a later time than the last one that was read, but none of the last 15 minutes, so that files of the same time arrive together. Store the data in folders by date, and let a rule of the bucket delete old files: a transfer lists all of them, at most 100,000. As a destination, it sends custom events, screen views and the start and end of sessions, each with an identifier of a person or device. mParticle accepts events for processing and does not report the result of each: only the acceptance is counted. If mParticle refuses a request, it is sent again in halves until the event is found. mParticle does not detect repeated events; each has a source_message_id that stays the same. Events older than 30 days are rejected before they are sent. Send only people who have agreed to it.',
  tested:
    'Our own test server, which follows the published documentation of mParticle’s Events API, and an S3 server from npm, fauxqs 2.4.1, with files in the documented layout; not mParticle itself.',
  api: { version: 'Events API v2', ends: 'No end is known.' },
  platformApi: (context) =>
    restApi({
      name: 'mParticle',
      baseUrl: `${originOf(context)}/v2`,
      errors: { statuses: { 401: badKeys, 403: badKeys } },
    }),
  auth: { basic: ['key', 'secret'] },
  secrets: {
    ...bucketSecrets,
    key: secret({
      label: 'Key',
      description: 'Key of the platform, shown in the setup of the input at mParticle',
      required: true,
      role: 'Destination',
    }),
    secret: secret({
      label: 'Secret',
      description: 'Secret of the platform, shown next to its key',
      required: true,
      role: 'Destination',
    }),
    workspaceKey: secret({
      label: 'Workspace key',
      description: 'Key in the settings of the workspace; only needed to erase people',
      role: 'Destination',
    }),
    workspaceSecret: secret({
      label: 'Workspace secret',
      description: 'Secret next to this key; only needed to erase people',
      role: 'Destination',
    }),
    region: select({
      label: 'Region',
      description: 'Where mParticle stores the data of the account; US1 by default',
      options: [...regions],
      role: 'Destination',
    }),
  },
  source: presetSource(eventFiles(received), withBucketKeys),
  sourceCheck: {
    isMeant: ({ settings }) => settings.bucketUri !== undefined,
    check: async (context) => (await import('../amazon-s3/check.ts')).checkSource(withBucketKeys(context)),
  },
  settings: {
    environment: select({
      label: 'Environment',
      description: 'Whether events are production or test events; production by default',
      options: ['production', 'development'],
      labels: { production: 'Production', development: 'Development' },
    }),
  },
  batch: { rowsMax: 100, bytesMax: 200_000 },
  // mParticle expects batches of one user each.
  request: (batches) => ({ path: '/bulkevents', body: batches }),
  answer: {
    refuses: [400],
    refusal: 'mParticle refuses the event; check its columns',
    confirms: ({ status }) => status === 202,
  },
  // A list without a batch adds nothing, whether it is accepted or refused.
  probe: { names: 'account', credentials: 'key and secret' },
  columns: {
    ...common,
    event_name: plain('@name', 'Name of the event, or of the screen', { synonyms: ['event', 'screen_name'] }),
    custom_event_type: oneOf(
      'data.custom_event_type',
      'Type of a custom event, such as transaction; other by default',
      {
        values: asWritten(
          ...['navigation', 'location', 'search', 'transaction', 'user_content', 'user_preference'],
          ...['social', 'media', 'other', 'unknown'],
        ),
        wanted:
          'navigation, location, search, transaction, user_content, user_preference, social, media, other or unknown',
        usual: 'other',
        only: { at: 'event_type', is: ['custom_event'] },
      },
    ),
    customer_id: plain('user_identities.customer_id', 'Your own ID of the person', {
      ...identifies,
      synonyms: ['external_id', 'user_id'],
    }),
    email: plain('user_identities.email', 'E-mail address, not hashed', { ...identifies, normalise: 'email' }),
    phone: plain('user_identities.mobile_number', 'Mobile phone number, not hashed', {
      ...identifies,
      normalise: 'phone-e164',
      synonyms: ['mobile_number'],
    }),
    other_id: plain('user_identities.other', 'Another ID of the person', identifies),
    mpid: plain('mpid', 'ID that mParticle gave the person', {
      ...identifies,
      pattern: /^-?\d{1,19}$/,
      wanted: 'The mParticle ID must be a whole number.',
    }),
    idfa: plain('device_info.ios_advertising_id', 'Advertising ID of a device with iOS', {
      ...identifies,
      normalise: 'device-id',
    }),
    gaid: plain('device_info.android_advertising_id', 'Advertising ID of a device with Android', {
      ...identifies,
      normalise: 'device-id',
      synonyms: ['aaid'],
    }),
    ip: plain('ip', 'IP address of the person', { synonyms: ['ip_address', 'client_ip'] }),
    user_attributes: object('user_attributes', 'Object with attributes of the person', texts),
  },
  erasure: describedErasure('mParticle', {
    what: 'Deletes the profile and its events within 7 to 21 days, and forwards the request to the outputs that mParticle is set up to forward it to. Needs the key and the secret of the workspace.',
    server({ workspaceKey, workspaceSecret }) {
      if (!workspaceKey || !workspaceSecret) {
        const message =
          'mParticle erases people only with the key and the secret of the workspace; save both in the connector.'
        throw new ConnectorError('invalid_credentials', message)
      }
      return {
        url: 'https://opendsr.mparticle.com/v3',
        authentication: 'user name and password',
        username: String(workspaceKey),
        password: String(workspaceSecret),
      }
    },
    requests: {
      email: erasedBy({ subject_identities: { email: identity } }),
      phone: erasedBy({ extensions: { 'opendsr.mparticle.com': { subject_identities: { mobile_number: identity } } } }),
      externalId: erasedBy({ subject_identities: { controller_customer_id: identity } }),
    },
  }),
  person: {
    anyOf: ['user_identities', 'device_info', 'mpid'],
    missing: 'The row has no identifier of the user or the device.',
    field: 'customer_id',
  },
  needs: [
    {
      at: 'event_type',
      is: ['custom_event', 'screen_view'],
      paths: ['@name'],
      missing: 'The name of the event is missing.',
    },
  ],
  finish({ event_type: type, data: given, '@id': id, '@name': name, mpid, ...user }, row, { environment }) {
    const data = filled(objectIn(given))
    if (data.location && !isPlace(objectIn(data.location))) return noPlace
    const names = { custom_event: 'event_name', screen_view: 'screen_name' }
    const nameAt = textIn(objectIn(names)[String(type)])
    const known = {
      ...data,
      ...(nameAt && { [nameAt]: name }),
      ...(id !== undefined && idOf(String(id), row.text('source_message_id'))),
    }
    return {
      read: {
        schema_version: 2,
        environment: textIn(environment) ?? 'production',
        ...user,
        ...(mpid !== undefined && { mpid: isNumber(String(mpid)) ? Number(mpid) : mpid }),
        events: [{ event_type: type, data: known }],
      },
    }
  },
})

/** Numbers with more digits than a JSON number can represent stay texts. */
const isNumber = (text: string): boolean => /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))

/** A number is mParticle's ID. Any other text identifies the message, if nothing else does. */
const idOf = (id: string, messageId: string | undefined): JsonObject =>
  isNumber(id) ? { event_id: Number(id) } : { source_message_id: messageId ?? id }

const isDegree = (value: unknown, most: number): boolean =>
  (typeof value === 'number' || typeof value === 'string') && value !== '' && Math.abs(Number(value)) <= most
const isPlace = ({ latitude, longitude }: JsonObject): boolean => isDegree(latitude, 90) && isDegree(longitude, 180)
const noPlace: Read<JsonObject> = {
  wrong: 'The location must have a latitude and a longitude in degrees.',
  field: 'location',
}
