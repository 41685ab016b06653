import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { connectionStatuses, eventValueKinds, streamOutcomes, streamRefusals, streamStores } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { count, exactly, flag, identifier, oneOf, secret, text, unixSeconds } from './kinds.ts'

/** Streams of events, which senders write to with write keys. Not in the specification. */

const keyFields = {
  id: identifier('the write key', example.streamKeyId),
  hint: text('The last four characters of the key', 'x3Qa'),
  createdTime: unixSeconds('When it was created', example.createdTime),
  lastUsedTime: Type.Union([
    unixSeconds('When it was last used, at most a minute too early', example.updatedTime),
    Type.Null(),
  ]),
}

/** A write key, without its secret. */
export const StreamKey = exactly(keyFields, { description: 'Write key of a stream' })
export type StreamKey = Static<typeof StreamKey>

/** Response of Create a Write Key. */
export const NewStreamKey = exactly(
  {
    ...keyFields,
    key: secret('The key. It is shown only now. It can send events to this stream and nothing else', 'pwk_…'),
  },
  { description: 'New write key of a stream' },
)

const consumerFields = {
  connectionId: identifier('the connection', example.connectionId),
  name: text('Name of the connection', 'Events to warehouse'),
  status: oneOf(connectionStatuses, { description: 'Status of the connection', examples: ['active'] }),
  readNumber: Type.Union([count('Number of the newest event that it has delivered', 48_200), Type.Null()], {
    description: 'Null before its first transfer',
  }),
  behindEvents: count('Kept events that it has not delivered', 12),
  behindSeconds: count('Age of the oldest of these events, in seconds; 0 if there are no such events', 3),
}

/** A connection that reads a stream. */
export const StreamConsumer = exactly(consumerFields, { description: 'Connection that reads a stream' })
export type StreamConsumer = Static<typeof StreamConsumer>

const orNull = <S extends Parameters<typeof Type.Optional>[0]>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
const notInKafka = 'null of a stream that stores its events in Apache Kafka'

const figures = {
  store: oneOf(streamStores, { description: 'Store of its events', examples: ['postgresql'] }),
  topic: orNull(text('Topic of Apache Kafka on which its events are put', 'events')),
  accepted: count('Events that were stored; of a stream in Apache Kafka, counted once a second', 48_212),
  duplicates: orNull(count('Events that were sent again, and not stored again', 31), `Repeated events; ${notInKafka}`),
  refused: count('Events that were not accepted; a request that was refused as a whole is counted once', 2),
  keptEvents: orNull(
    count('Events that are kept', 20_000),
    `Kept events; ${notInKafka}, unless it kept events before and still has them`,
  ),
  keptBytes: orNull(count('Bytes of these events as they are stored', 3_145_728), 'null as `keptEvents`'),
  newestTime: Type.Union([unixSeconds('When the newest event was stored', example.updatedTime), Type.Null()]),
  oldestTime: Type.Union([unixSeconds('When the oldest kept event was stored', example.createdTime), Type.Null()]),
}

/** Events of a minute or an hour. */
const volumes = (description: string) =>
  Type.Array(
    exactly(
      {
        time: unixSeconds('Its beginning', example.updatedTime),
        accepted: count('Events that were stored', 812),
        duplicates: count('Events that were sent again, and not stored again; not counted in Apache Kafka', 3),
        refused: count('Events and requests that were not accepted', 0),
      },
      { description: 'Events of a minute or an hour' },
    ),
    { description },
  )

/** A stream of events. */
export const EventStream = exactly(
  {
    id: identifier('the stream, which is the identifier of its configuration', example.streamId),
    accountId: identifier('the sub-account', example.accountId),
    address: text('Address for events as JSON by POST', `http://127.0.0.1:8080/events/${example.streamId}`),
    host: text('Host for libraries of Segment and RudderStack', 'http://127.0.0.1:8080'),
    callbackAddress: orNull(
      text(
        'Address for senders that call one for each event, with their placeholders and YOUR_WRITE_KEY',
        `http://127.0.0.1:8080/events/${example.streamId}/pixel.gif?writeKey=YOUR_WRITE_KEY&adid={adid}`,
      ),
      'Streams of other senders have none',
    ),
    keys: Type.Array(StreamKey, { description: 'Write keys, the oldest first' }),
    ...figures,
    consumers: orNull(
      Type.Array(StreamConsumer, { description: 'Connections that read the stream, by name' }),
      `Connections; ${notInKafka}, because they read the topic`,
    ),
    columns: Type.Array(
      exactly(
        {
          name: text('Name of the column: the key in the event, with the keys above it', 'properties.revenue'),
          kinds: Type.Array(oneOf(eventValueKinds, { description: 'Kind of value', examples: ['number'] }), {
            description: 'Kinds of values that were seen; more than one means that senders differ',
          }),
        },
        { description: 'Column' },
      ),
      {
        description: `Columns that were seen in events, at most ${limits.streamColumnsMax}, in the order of their first event`,
      },
    ),
    volumes: exactly(
      {
        minutes: volumes('The minutes of the last hour in which events came, oldest first'),
        hours: volumes('The hours of the last seven days in which events came, oldest first'),
      },
      { description: 'Events by time' },
    ),
  },
  { description: 'Stream of events' },
)
export type EventStream = Static<typeof EventStream>

const reason = oneOf(streamRefusals, { description: 'Why it was refused', examples: ['bad_signature'] })

/** An event that was sent to a stream, and its outcome. */
export const StreamEvent = exactly(
  {
    time: unixSeconds('When it arrived', example.updatedTime),
    outcome: oneOf(streamOutcomes, {
      description:
        'stored: it is kept, and connections read it. repeated: an event with its message ID was stored before. refused: it was not stored',
      examples: ['stored'],
    }),
    reason: orNull(reason),
    number: orNull(
      count('Number of the event in its stream; of a repeated event, the number of the event that it repeats', 48_212),
    ),
    events: count('Events of one request with this outcome', 1),
    bytes: orNull(count('Size of its JSON in bytes; of a refused request, of its body', 312)),
    messageId: orNull(text('Message ID; a mask without a `view`', 'order-7')),
    type: orNull(text('`type` of the event', 'track')),
    name: orNull(text('`event`, or the name of a page or screen', 'Order Completed')),
    test: flag('Whether it was sent with *Send a test event*', false),
    value: orNull(
      text(
        `The event as JSON, up to ${limits.streamEventLengthMax} characters; without a \`view\`, its keys and the form of its values`,
        '{"event":"xxxx…"}',
      ),
    ),
  },
  {
    description:
      'Event that was sent to a stream. Of repeated and refused events no values are kept; the message ID of a repeated event is known while the event that it repeats is listed',
  },
)
export type StreamEvent = Static<typeof StreamEvent>

/** Response of Send a Test Event. */
export const TestEvent = exactly(
  {
    id: identifier('the stream', example.streamId),
    messageId: text('Message ID of the event', 'test-6f1c9e52-0c4b-4d0a-9a53-2f1f0a7f8f11'),
  },
  { description: 'Test event that was stored' },
)

/** Response of Get the Newest Events of a Stream. */
export const StreamEvents = exactly(
  {
    id: identifier('the stream', example.streamId),
    ...figures,
    masked: flag('Whether values are masks', true),
    searched: orNull(
      count('Newest kept events that `q` looked through; older ones were not searched. Null without `q`', 20_000),
    ),
    events: Type.Array(StreamEvent, { description: 'The newest events that were sent to the stream, newest first' }),
    refusals: Type.Array(
      exactly(
        {
          reason,
          count: count('Events and requests that were refused for this reason', 28),
          newestTime: unixSeconds('When this happened last', example.updatedTime),
        },
        { description: 'Refused events by reason' },
      ),
      { description: 'Why events were refused since the beginning, the newest reason first' },
    ),
    consumers: orNull(
      Type.Array(
        exactly(
          {
            ...consumerFields,
            transfers: Type.Array(
              exactly(
                {
                  id: identifier('the transfer', example.transferId),
                  after: count('It delivered the events after this number', 48_100),
                  last: count('Number of the last event that it delivered', 48_200),
                },
                { description: 'Transfer that delivered events' },
              ),
              { description: 'The newest transfers that delivered listed events, newest first' },
            ),
          },
          { description: 'Connection that reads a stream, and what it delivered' },
        ),
        { description: 'Connections that read the stream, by name' },
      ),
      `Connections; ${notInKafka}, because they read the topic`,
    ),
  },
  { description: 'The newest events of a stream' },
)
export type StreamEvents = Static<typeof StreamEvents>
