import { limits } from '../limits.ts'
import { operation } from '../operation.ts'
import { connectionIds, page, q } from '../parameters.ts'
import {
  ConnectionLabels,
  ConnectionTag,
  CreateSavedFilter,
  Done,
  SavedFilter,
  SetConnectionLabels,
  UpdateSavedFilter,
} from '../schemas.ts'
import { Type } from '../type.ts'

/** Labels and tags of connections, and saved filters of lists. */
export const labels = {
  listConnectionLabels: operation({
    tag: 'Connections',
    summary: 'List the tags and owners of connections',
    description:
      'Lists the tags and owners of connections of one sub-account, or of all sub-accounts if `accountId` is omitted, by identifier. Connections without labels and deleted connections are omitted.',
    actsIn: 'organization or account',
    scope: 'connections:read',
    query: { connectionIds, ...page },
    reply: ConnectionLabels,
    list: 'paged',
    done: 'Labels listed',
  }),
  listConnectionTags: operation({
    tag: 'Connections',
    summary: 'List the tags of connections',
    description:
      'Lists the tags of one sub-account, or of all sub-accounts if `accountId` is omitted, by name, each with the number of its connections. Deleted connections are not counted.',
    actsIn: 'organization or account',
    scope: 'connections:read',
    query: { q: Type.Optional(q), ...page },
    reply: ConnectionTag,
    list: 'paged',
    done: 'Tags listed',
  }),
  getConnectionLabels: operation({
    tag: 'Connections',
    summary: 'Get the tags and the owner of a connection',
    description: 'Returns the tags of a connection and the person who is responsible for it.',
    actsIn: 'account',
    scope: 'connections:read',
    reply: ConnectionLabels,
    done: 'Labels found',
  }),
  setConnectionLabels: operation({
    tag: 'Connections',
    summary: 'Set the tags and the owner of a connection',
    description:
      'Sets the tags of a connection, its owner, or both. Given tags replace the saved ones. The owner is a person of the organization who can see the sub-account, and whom you can see. If that person is removed, the connection has no owner. The version of the connection does not change.',
    actsIn: 'account',
    scope: 'connections:write',
    body: SetConnectionLabels,
    reply: ConnectionLabels,
    done: 'Labels set',
    refusals: ['connection_deleted', 'not_editable'],
  }),
  listSavedFilters: operation({
    tag: 'Connections',
    summary: 'List saved filters',
    description:
      'Lists the filters of the list of connections that you saved, and shared ones, by name. Requires `connections:read`.',
    actsIn: 'organization',
    person: true,
    query: { q: Type.Optional(q), ...page },
    reply: SavedFilter,
    list: 'paged',
    done: 'Saved filters listed',
  }),
  createSavedFilter: operation({
    tag: 'Connections',
    summary: 'Save a filter',
    description: `Saves a filter of the list of connections, at most ${limits.savedFiltersMax} for each person. A shared filter requires \`connections:write\`; there are at most ${limits.savedFiltersMax} shared filters.`,
    actsIn: 'organization',
    person: true,
    body: CreateSavedFilter,
    reply: SavedFilter,
    success: 201,
    done: 'Filter saved',
    refusals: ['quota_exceeded'],
  }),
  updateSavedFilter: operation({
    tag: 'Connections',
    summary: 'Change a saved filter',
    description: 'Renames a saved filter, or replaces its query. A shared filter requires `connections:write`.',
    actsIn: 'organization',
    person: true,
    body: UpdateSavedFilter,
    reply: SavedFilter,
    done: 'Filter changed',
  }),
  deleteSavedFilter: operation({
    tag: 'Connections',
    summary: 'Delete a saved filter',
    description: 'Deletes a saved filter. A shared filter requires `connections:write`.',
    actsIn: 'organization',
    person: true,
    reply: Done,
    done: 'Filter deleted',
  }),
} as const
