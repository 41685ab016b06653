import { type Static, type TSchema, Type } from 'typebox'
import type { ErrorCode } from './errors.ts'
import { statusActions } from './lifecycle.ts'
import { limits } from './limits.ts'
import {
  Account,
  AccountEntry,
  AddAccount,
  AddedConnector,
  CatalogueEntry,
  Configure,
  Connection,
  ConnectionDetails,
  Connector,
  ConnectorConfiguration,
  CreateConnection,
  EditAccount,
  Identifier,
  oneOf,
  SavedConfiguration,
  SupportedConnector,
  Token,
  UpdateConnection,
  UpdatedConnection,
} from './schemas.ts'
import { connectionStatuses, dataTypeCategories, dataTypes, platformTypes, roles } from './terms.ts'

/**
 * The whole interface on one page, in the order of the specification's section 4.
 * Server, client, OpenAPI document and tests derive from this table; a path or a status stands nowhere else.
 */

/** Path prefix of every operation (specification, section 9). */
export const basePath = '/es/v2'

/** Where an operation acts, which decides what it needs besides its path. */
export type Scope =
  /** No token: the token operation itself. */
  | 'public'
  /** A token; the organization is the token's. */
  | 'organization'
  /** A token and `accountId`, a sub-account of the organization. */
  | 'account'
  /** A token; `accountId` narrows the answer where it is given. */
  | 'organization or account'

export type Operation = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  tag: 'Token' | 'Accounts' | 'Connectors' | 'Connections'
  summary: string
  scope: Scope
  /** Query parameters besides `accountId`. */
  query?: Record<string, TSchema>
  /** Exactly one of these query parameters must be given. */
  exactlyOne?: readonly string[]
  body?: TSchema
  /** The payload, or one entry of it where `list` is set. */
  reply: TSchema
  /** The answer is an array of `reply`; `paged` ones carry X-Total-Count and Link. */
  list?: 'whole' | 'paged'
  /** The payload travels without the envelope. */
  bare?: true
  /** 200 unless said otherwise. */
  success?: 201 | 202
  /** The envelope's `statusMessage` on success. */
  done: string
  /** The reply carries an ETag, or the request may carry If-Match. */
  concurrency?: 'etag' | 'if-match'
  /** Refusals beyond those that every operation of its shape can answer. */
  refusals?: readonly ErrorCode[]
}

const operation = <const O extends Operation>(definition: O): O => definition

const q = Type.String({
  maxLength: limits.filterLengthMax,
  description: 'Keeps entries whose shown names contain this text, in any letter case',
  examples: ['meta'],
})
const page = {
  size: Type.Integer({
    minimum: limits.pageSizeMin,
    maximum: limits.pageSizeMax,
    default: limits.pageSizeDefault,
    description: 'Page size',
    examples: [limits.pageSizeDefault],
  }),
  offset: Type.Integer({
    minimum: 0,
    maximum: limits.offsetMax,
    default: 0,
    description: 'Start position in the result',
    examples: [0],
  }),
}
const filter = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Optional(oneOf(values, { description, examples: values.slice(0, 1) }))
const yes = (description: string) => Type.Optional(Type.Boolean({ description, examples: [true] }))
const optionalId = (description: string) => Type.Optional(Type.String({ ...Identifier, description }))

const status = Type.Optional(
  Type.String({
    pattern: `^(?:${['', 'all', ...connectionStatuses].map(anyCase).join('|')})$`,
    description: `A connection status, in any letter case: ${connectionStatuses.join(', ')}. Empty or all: every status`,
    examples: ['active'],
  }),
)

/** A pattern that matches a word in any letter case; JSON Schema patterns have no flag for it. */
function anyCase(word: string): string {
  return word.replace(/[a-z]/gi, (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`)
}

export const operations = {
  // 4.1 Token
  createToken: operation({
    method: 'POST',
    path: '/oauth/client-token',
    tag: 'Token',
    summary: 'Get an access token',
    scope: 'public',
    body: Type.Object(
      {
        clientId: Type.String({
          minLength: 1,
          maxLength: limits.credentialLengthMax,
          description: 'Client identifier',
          examples: ['3f9c2b7a10d4e856'],
        }),
        clientSecret: Type.String({
          minLength: 1,
          maxLength: limits.credentialLengthMax,
          description: 'Client secret',
          examples: ['pss_…'],
        }),
      },
      { additionalProperties: false, description: 'Client credentials' },
    ),
    reply: Token,
    bare: true,
    done: 'Token issued',
    refusals: ['invalid_client', 'rate_limited'],
  }),

  // 4.2 Connectors
  listConnectors: operation({
    method: 'GET',
    path: '/connectors',
    tag: 'Connectors',
    summary: 'List the connector catalogue',
    scope: 'account',
    query: {
      q: Type.Optional(q),
      dataType: filter(dataTypes, 'Kind of data'),
      dataTypeCategory: filter(dataTypeCategories, 'Category of the data type'),
      platformType: filter(platformTypes, 'Kind of platform'),
      supportedType: filter(roles, 'Keeps connectors that can play this role'),
      ...page,
    },
    reply: CatalogueEntry,
    list: 'paged',
    done: 'Connectors listed',
  }),
  addConnectors: operation({
    method: 'POST',
    path: '/connectors',
    tag: 'Connectors',
    summary: 'Add connectors to a sub-account',
    scope: 'account',
    body: Type.Object(
      {
        connectorIds: Type.Array(Identifier, {
          minItems: 1,
          maxItems: limits.connectorIdsMax,
          description: 'Connectors of the catalogue; all are added or none',
        }),
      },
      { additionalProperties: false, description: 'Connectors to add' },
    ),
    reply: AddedConnector,
    list: 'whole',
    done: 'Connectors added',
  }),
  listAddedConnectors: operation({
    method: 'GET',
    path: '/connectors/added',
    tag: 'Connectors',
    summary: 'List the connectors added to a sub-account',
    scope: 'account',
    query: { q: Type.Optional(q), configured: yes('Keeps those that are, or are not, configured'), ...page },
    reply: AddedConnector,
    list: 'paged',
    done: 'Added connectors listed',
  }),
  listSupportedConnectors: operation({
    method: 'GET',
    path: '/connectors/supported',
    tag: 'Connectors',
    summary: 'List the connectors that fit a source or a destination',
    scope: 'account',
    query: {
      srcConnectorId: optionalId('The source whose compatible destinations are wanted'),
      destConnectorId: optionalId('The destination whose compatible sources are wanted'),
      added: yes('Keeps those that are, or are not, added to the sub-account'),
    },
    exactlyOne: ['srcConnectorId', 'destConnectorId'],
    reply: SupportedConnector,
    list: 'whole',
    done: 'Supported connectors listed',
  }),
  getConnector: operation({
    method: 'GET',
    path: '/connectors/{id}',
    tag: 'Connectors',
    summary: 'Get a connector',
    scope: 'account',
    reply: Connector,
    done: 'Connector found',
    concurrency: 'etag',
  }),
  getConnectorConfiguration: operation({
    method: 'GET',
    path: '/connectors/{id}/configuration',
    tag: 'Connectors',
    summary: 'Get a connector’s configuration',
    scope: 'account',
    reply: ConnectorConfiguration,
    done: 'Configuration found',
    concurrency: 'etag',
    refusals: ['connector_not_added'],
  }),
  configureConnector: operation({
    method: 'PUT',
    path: '/connectors/{id}/configuration',
    tag: 'Connectors',
    summary: 'Configure a connector',
    scope: 'account',
    body: Configure,
    reply: SavedConfiguration,
    done: 'Configuration saved',
    concurrency: 'if-match',
    refusals: ['connector_not_added', 'not_editable'],
  }),
  removeConnector: operation({
    method: 'DELETE',
    path: '/connectors/{id}',
    tag: 'Connectors',
    summary: 'Remove a connector from a sub-account',
    scope: 'account',
    reply: AddedConnector,
    done: 'Connector removed',
    concurrency: 'if-match',
    refusals: ['connector_in_use', 'connector_not_added', 'not_editable'],
  }),

  // 4.3 Accounts
  getAccount: operation({
    method: 'GET',
    path: '/accounts/{id}',
    tag: 'Accounts',
    summary: 'Get a sub-account',
    scope: 'organization',
    reply: Account,
    done: 'Account found',
    concurrency: 'etag',
  }),
  listAccounts: operation({
    method: 'GET',
    path: '/accounts',
    tag: 'Accounts',
    summary: 'List the sub-accounts',
    scope: 'organization',
    query: { q: Type.Optional(q), ...page },
    reply: AccountEntry,
    list: 'paged',
    done: 'Accounts listed',
  }),
  addAccount: operation({
    method: 'POST',
    path: '/accounts',
    tag: 'Accounts',
    summary: 'Add a sub-account',
    scope: 'organization',
    body: AddAccount,
    reply: Account,
    success: 201,
    done: 'Account created',
  }),
  editAccount: operation({
    method: 'PUT',
    path: '/accounts/{id}',
    tag: 'Accounts',
    summary: 'Edit a sub-account',
    scope: 'organization',
    body: EditAccount,
    reply: Account,
    done: 'Account changed',
    concurrency: 'if-match',
    refusals: ['not_editable'],
  }),
  deleteAccount: operation({
    method: 'DELETE',
    path: '/accounts/{id}',
    tag: 'Accounts',
    summary: 'Delete a sub-account and all it holds',
    scope: 'organization',
    reply: Account,
    done: 'Account deleted',
    concurrency: 'if-match',
    refusals: ['not_editable'],
  }),

  // 4.4 Connections
  listConnections: operation({
    method: 'GET',
    path: '/connections',
    tag: 'Connections',
    summary: 'List connections',
    scope: 'organization or account',
    query: { q: Type.Optional(q), status, ...page },
    reply: Connection,
    list: 'paged',
    done: 'Connections listed',
  }),
  createConnection: operation({
    method: 'POST',
    path: '/connections',
    tag: 'Connections',
    summary: 'Create a connection',
    scope: 'account',
    body: CreateConnection,
    reply: Connection,
    success: 201,
    done: 'Connection created',
    refusals: ['connector_not_added', 'connectors_incompatible'],
  }),
  updateConnection: operation({
    method: 'PUT',
    path: '/connections/{id}',
    tag: 'Connections',
    summary: 'Change a connection’s name and settings',
    scope: 'account',
    body: UpdateConnection,
    reply: UpdatedConnection,
    done: 'Connection changed',
    concurrency: 'if-match',
    refusals: ['connection_deleted', 'connection_not_ready', 'connector_immutable', 'not_editable'],
  }),
  updateConnectionStatus: operation({
    method: 'PUT',
    path: '/connections/{id}/status',
    tag: 'Connections',
    summary: 'Activate, enable or disable a connection',
    scope: 'account',
    body: Type.Object(
      { action: oneOf(statusActions, { description: 'What to do', examples: ['activate'] }) },
      { additionalProperties: false, description: 'Status action' },
    ),
    reply: Connection,
    done: 'Connection status updated',
    concurrency: 'if-match',
    refusals: ['connection_deleted', 'connection_not_ready', 'not_editable'],
  }),
  deleteConnection: operation({
    method: 'DELETE',
    path: '/connections/{id}',
    tag: 'Connections',
    summary: 'Delete a connection; it can be restored for 30 days',
    scope: 'account',
    reply: Connection,
    done: 'Connection deleted',
    concurrency: 'if-match',
    refusals: ['connection_deleted', 'not_editable'],
  }),
  restoreConnection: operation({
    method: 'POST',
    path: '/connections/{id}/restore',
    tag: 'Connections',
    summary: 'Restore a deleted connection',
    scope: 'account',
    reply: Connection,
    done: 'Connection restored',
    concurrency: 'if-match',
    refusals: ['connection_not_deleted', 'connector_not_added', 'not_editable'],
  }),
  getConnection: operation({
    method: 'GET',
    path: '/connections/{id}',
    tag: 'Connections',
    summary: 'Get a connection',
    scope: 'account',
    reply: ConnectionDetails,
    done: 'Connection found',
    concurrency: 'etag',
  }),
} as const

export type Operations = typeof operations
export type OperationId = keyof Operations

/** The query that an operation takes, as its rule sees it: coerced, with defaults. `accountId` apart. */
export type QueryOf<I extends OperationId> = Operations[I] extends { query: infer Q extends Record<string, TSchema> }
  ? Static<Type.TObject<Q>>
  : Record<never, never>

/** The body that an operation takes. */
export type BodyOf<I extends OperationId> = Operations[I] extends { body: infer B extends TSchema }
  ? Static<B>
  : undefined

/** The payload that an operation answers. */
export type ReplyOf<I extends OperationId> = Operations[I] extends { list: string }
  ? Static<Operations[I]['reply']>[]
  : Static<Operations[I]['reply']>

/** Whether an operation answers pages. */
export type IsPaged<I extends OperationId> = Operations[I] extends { list: 'paged' } ? true : false

/** Whether the path of an operation names one resource. */
export type HasId<I extends OperationId> = Operations[I]['path'] extends `${string}{id}${string}` ? true : false
