import { limits } from '../limits.ts'
import { operation } from '../operation.ts'
import { q } from '../parameters.ts'
import { oneOf, viewId } from '../schemas/kinds.ts'
import { EventStream, NewStreamKey, StreamEvents, StreamKey, TestEvent } from '../schemas.ts'
import { streamOutcomes } from '../terms.ts'
import { Type } from '../type.ts'

/** Streams of events. Senders use other addresses, with write keys. */
export const streams = {
  getStream: operation({
    tag: 'Streams',
    summary: 'Get a stream of events',
    description:
      'Returns the addresses of a stream, its write keys without their secrets, the events that it has received and keeps, and how far the connections that read it are behind. The identifier is the identifier of a configuration of the connector *Event stream*.',
    actsIn: 'account',
    scope: 'connectors:read',
    reply: EventStream,
    done: 'Stream found',
  }),
  getStreamEvents: operation({
    tag: 'Streams',
    summary: 'Get the newest events of a stream',
    description:
      'Returns the newest events that were sent to a stream, the outcome of each, and the transfers that delivered them. Values are masks that keep only their form; with the scope `records:read` and a `view`, they are whole, and this is recorded in the audit log. A few of the newest repeated and refused events are included, without values.',
    actsIn: 'account',
    scope: 'connectors:read',
    query: {
      size: Type.Integer({
        minimum: 1,
        maximum: limits.streamEventsShownMax,
        default: 50,
        description: 'How many events',
        examples: [50],
      }),
      view: viewId,
      outcome: Type.Optional(
        oneOf(streamOutcomes, { description: 'Keeps events with this outcome', examples: ['refused'] }),
      ),
      q: Type.Optional({
        ...q,
        description:
          'Keeps stored events that contain this text: with a `view`, anywhere, in any letter case; otherwise events with this name, type or message ID. The newest events are searched, up to 8 MiB as they are stored',
        examples: ['order-7'],
      }),
    },
    reply: StreamEvents,
    done: 'Newest events found',
  }),
  sendTestEvent: operation({
    tag: 'Streams',
    summary: 'Send a test event',
    description:
      'Sends a sample event to a stream, as a call of the tracking API. It is stored, counted and delivered like any other event; its message ID begins with `test-`, and `properties.test` is true. It needs no write key and no signature, and adds no columns to a stream that has columns.',
    actsIn: 'account',
    scope: 'transfers:run',
    reply: TestEvent,
    success: 201,
    done: 'Test event stored',
    refusals: ['connector_not_configured', 'rate_limited', 'account_disabled', 'topic_unavailable'],
  }),
  createStreamKey: operation({
    tag: 'Streams',
    summary: 'Create a write key',
    description: `Creates a key that can only send events to a stream. Only this reply contains it. A stream has at most ${limits.streamKeysMax} keys, which are valid at the same time: to rotate a key, create the next one, change the senders, and delete the old one.`,
    actsIn: 'account',
    scope: 'secrets:write',
    reply: NewStreamKey,
    success: 201,
    done: 'Write key created',
    refusals: ['quota_exceeded', 'not_editable', 'connector_not_configured'],
  }),
  deleteStreamKey: operation({
    tag: 'Streams',
    summary: 'Delete a write key',
    description: 'Deletes a write key of a stream. Requests with it are refused from then on.',
    actsIn: 'account',
    scope: 'secrets:write',
    reply: StreamKey,
    done: 'Write key deleted',
  }),
} as const
