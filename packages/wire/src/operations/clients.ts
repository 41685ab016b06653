import { example } from '../examples.ts'
import { operation } from '../operation.ts'
import { page, q } from '../parameters.ts'
import {
  Client,
  ClientWithSecret,
  CreateClient,
  CreateSession,
  Credentials,
  RenameClient,
  RotateClient,
  SessionToken,
  Token,
} from '../schemas.ts'
import { Type } from '../type.ts'

/** Access tokens, and the client credentials that they are issued for. */
export const clients = {
  createToken: operation({
    tag: 'Token',
    summary: 'Get an access token',
    description:
      'Exchanges client credentials for a bearer token. The token is valid for `expiry` seconds. Request a new one before it expires. This is the only response without an envelope.',
    actsIn: 'public',
    body: Credentials,
    reply: Token,
    bare: true,
    done: 'Token issued',
    refusals: ['invalid_client', 'rate_limited'],
  }),
  listClients: operation({
    tag: 'Clients',
    summary: 'List client credentials',
    description:
      'Lists client credentials without their secrets, newest first. Revoked credentials are omitted. A credential that is limited to sub-accounts sees only credentials with the same or fewer sub-accounts.',
    actsIn: 'organization',
    scope: 'clients:read',
    query: { q: Type.Optional(q), ...page },
    reply: Client,
    list: 'paged',
    done: 'Clients listed',
  }),
  getClient: operation({
    tag: 'Clients',
    summary: 'Get client credentials',
    description:
      'Returns client credentials without their secret, also if they are revoked. Use the command line for credentials whose identifier the operator chose.',
    actsIn: 'organization',
    scope: 'clients:read',
    reply: Client,
    done: 'Client found',
  }),
  createClient: operation({
    tag: 'Clients',
    summary: 'Create client credentials',
    description:
      'Creates client credentials with the given scopes and sub-accounts. You cannot grant permissions that you do not have. The secret is returned once.',
    actsIn: 'organization',
    scope: 'clients:write',
    body: CreateClient,
    reply: ClientWithSecret,
    success: 201,
    unrepeatable: true,
    done: 'Client created',
    refusals: ['quota_exceeded'],
    shows: { lastUsedTime: null },
  }),
  renameClient: operation({
    tag: 'Clients',
    summary: 'Rename client credentials',
    description:
      'Changes the name. The permissions of client credentials cannot change: create other credentials instead.',
    actsIn: 'organization',
    scope: 'clients:write',
    body: RenameClient,
    reply: Client,
    done: 'Client renamed',
    refusals: ['client_revoked'],
  }),
  rotateClient: operation({
    tag: 'Clients',
    summary: 'Rotate the secret of client credentials',
    description:
      'Creates a new secret, which is returned once. The previous secret is accepted for `overlapHours` more, so that you can replace it everywhere. Any older secret is refused immediately.',
    actsIn: 'organization',
    scope: 'clients:write',
    body: RotateClient,
    reply: ClientWithSecret,
    unrepeatable: true,
    done: 'Client rotated',
    refusals: ['client_revoked'],
  }),
  revokeClient: operation({
    tag: 'Clients',
    summary: 'Revoke client credentials',
    description:
      'Revokes client credentials, their tokens and their sessions immediately. This cannot be undone. Repeating it changes nothing.',
    actsIn: 'organization',
    scope: 'clients:write',
    reply: Client,
    done: 'Client revoked',
    shows: { revokedTime: example.updatedTime },
  }),
  createSession: operation({
    tag: 'Clients',
    summary: 'Create a session token for one sub-account',
    description:
      'Creates a short-lived token for one sub-account, with the given scopes. Use it to let the browser of your customer call this API directly. The session ends with its client.',
    actsIn: 'organization',
    scope: 'sessions:write',
    body: CreateSession,
    reply: SessionToken,
    success: 201,
    unrepeatable: true,
    done: 'Session created',
  }),
} as const
