import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { operation } from '../operation.ts'
import { connectionIds, filter, optionalId, owner, page, q, status, tags, yes } from '../parameters.ts'
import {
  AttentionEntry,
  Connection,
  ConnectionDetails,
  ConnectionEvent,
  ConnectionWithSettings,
  CreateConnection,
  StatusUpdate,
  UpdateConnection,
  UpdatedConnection,
} from '../schemas.ts'
import { attentionReasons, connectionOrders } from '../terms.ts'
import { Type } from '../type.ts'

/** Connections and their lifecycle. */
export const connections = {
  listConnections: operation({
    tag: 'Connections',
    summary: 'List connections',
    description:
      'Lists the connections of one sub-account, or of all sub-accounts if `accountId` is omitted, newest first by default. Deleted connections are listed for 30 days, while they can be restored.',
    actsIn: 'organization or account',
    scope: 'connections:read',
    query: {
      q: Type.Optional(q),
      status,
      tags,
      owner,
      sort: filter(
        connectionOrders,
        'Order of the list; - reverses it. Connections without the value come last in -lastTransfer and nextTransfer',
      ),
      ...page,
    },
    reply: Connection,
    list: 'paged',
    done: 'Connections listed',
  }),
  listConnectionDetails: operation({
    tag: 'Connections',
    summary: 'List connections with their settings',
    description:
      'Lists the connections of one sub-account, or of all sub-accounts if `accountId` is omitted, newest first, each with the settings of its source and its destination and with its ETag. Deleted connections are omitted.',
    actsIn: 'organization or account',
    scope: 'connections:read',
    query: {
      rejectsOf: optionalId(
        'Keeps connections that write the rejected records of this one to a store',
        example.connectionId,
      ),
      connectionIds,
      ...page,
    },
    reply: ConnectionWithSettings,
    list: 'paged',
    done: 'Connections listed',
  }),
  createConnection: operation({
    tag: 'Connections',
    summary: 'Create a connection',
    description:
      'Pairs a source with a destination. Both must be added to the sub-account and compatible. They cannot be changed afterwards. A new connection is `In-progress` until you activate it.',
    actsIn: 'account',
    scope: 'connections:write',
    body: CreateConnection,
    reply: Connection,
    success: 201,
    done: 'Connection created',
    refusals: ['connector_not_added', 'quota_exceeded', 'connectors_incompatible'],
    shows: {
      status: 'In-progress',
      updatedTime: example.createdTime,
      monthlyVolume: 0,
      totalVolume: 0,
      usedVolume: 0,
    },
  }),
  updateConnection: operation({
    tag: 'Connections',
    summary: 'Change a connection’s name and settings',
    description:
      'Changes the name, the settings of the source or the destination, or their configurations. Given settings replace all saved settings. If the state belongs to other data than the new settings, the next transfer reads everything. `X-Connection-States` is then 1, otherwise 0.',
    states: true,
    actsIn: 'account',
    scope: 'connections:write',
    body: UpdateConnection,
    reply: UpdatedConnection,
    done: 'Connection changed',
    concurrency: 'if-match',
    refusals: [
      'configuration_busy',
      'connection_deleted',
      'connection_not_ready',
      'connector_immutable',
      'not_editable',
    ],
  }),
  updateConnectionStatus: operation({
    tag: 'Connections',
    summary: 'Activate, enable or disable a connection',
    description:
      '`activate` lets a connection move data, if its source and destination are configured and complete. `disable` stops it, and `enable` returns it to its status before it was disabled. Repeating an action changes nothing.',
    actsIn: 'account',
    scope: 'connections:write',
    body: StatusUpdate,
    reply: Connection,
    done: 'Connection status updated',
    concurrency: 'if-match',
    refusals: ['connection_deleted', 'connection_not_ready', 'not_editable'],
  }),
  deleteConnection: operation({
    tag: 'Connections',
    summary: 'Delete a connection; it can be restored for 30 days',
    description:
      'Stops the connection and marks it as deleted. You can restore it for 30 days. After that, it is removed permanently.',
    actsIn: 'account',
    scope: 'connections:write',
    reply: Connection,
    done: 'Connection deleted',
    concurrency: 'if-match',
    refusals: ['connection_deleted', 'not_editable'],
    shows: { status: 'deleted', deleted: true, enabled: false },
  }),
  restoreConnection: operation({
    tag: 'Connections',
    summary: 'Restore a deleted connection',
    description:
      'Restores a deleted connection as `disabled`, within 30 days of its deletion. Enable it to return it to its status before the deletion.',
    actsIn: 'account',
    scope: 'connections:write',
    reply: Connection,
    done: 'Connection restored',
    concurrency: 'if-match',
    refusals: ['configuration_deleted', 'connection_not_deleted', 'connector_not_added', 'not_editable'],
    shows: { status: 'disabled', enabled: false },
  }),
  getConnection: operation({
    tag: 'Connections',
    summary: 'Get a connection',
    description: 'Returns a connection with the configuration and settings of its source and its destination.',
    actsIn: 'account',
    scope: 'connections:read',
    reply: ConnectionDetails,
    done: 'Connection found',
    concurrency: 'etag',
  }),
  listConnectionEvents: operation({
    tag: 'Connections',
    summary: 'List the events of a connection',
    description: `Lists the history of a connection, newest first: its creation, new names, status changes, and changes of its settings and its schedule, each with the actor. The newest ${limits.connectionEventsMax} events are kept.`,
    actsIn: 'account',
    scope: 'connections:read',
    query: { ...page },
    reply: ConnectionEvent,
    list: 'paged',
    done: 'Events listed',
  }),
  listAttention: operation({
    tag: 'Connections',
    summary: 'List the connections that need attention',
    description:
      'Lists connections of one sub-account, or of all sub-accounts if `accountId` is omitted, that need attention: they are broken or offline, their newest transfer failed, rejected records or is retried after an error, or a side is not configured. The worst reason is listed first, then the newest connection. Disabled and deleted connections are omitted.',
    actsIn: 'organization or account',
    scope: 'connections:read',
    query: {
      reason: filter(attentionReasons, 'Keeps connections with this reason'),
      failing: yes(
        'true: connections that are broken or offline, or whose newest transfer failed or is retried; false: the others',
      ),
      ...page,
    },
    reply: AttentionEntry,
    list: 'paged',
    done: 'Connections that need attention listed',
    shows: {
      status: 'broken',
      reasons: ['broken', 'transfer_failed'],
      notConfigured: [],
      lastTransfer: {
        id: example.transferId,
        status: 'failed',
        finishedTime: example.createdTime + 95,
        records: { read: 0, sent: 0, accepted: 0, rejected: 0 },
        error: {
          code: 'invalid_credentials',
          message: 'Meta refused the access token: save a new one.',
          side: 'destination',
          connectorId: example.destination.connectorId,
        },
      },
    },
  }),
} as const
