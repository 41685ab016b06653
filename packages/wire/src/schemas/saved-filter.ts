import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { exactly, flag, identifier, name, unixSeconds } from './kinds.ts'

/** Saved filters of the list of connections. Not in the specification. */

const query = Type.String({
  maxLength: limits.savedFilterLengthMax,
  pattern: '^[\\u0021-\\u007e]*$',
  description: 'Filter and order of the list, as the query of an address: parameters of List Connections',
  examples: ['status=active&tags=production&sort=name'],
})
const accountId = Type.Union([identifier('the sub-account', example.accountId), Type.Null()], {
  description: 'Sub-account whose list the filter opens; null: the list of the organization',
})
const shared = flag('Whether everyone who can see the list can use it; otherwise, only the person who saved it', false)
const filterName = name('Production, to Meta')

/** Request of Create Saved Filter. */
export const CreateSavedFilter = exactly(
  { name: filterName, query, accountId: Type.Optional(accountId), shared: Type.Optional(shared) },
  { description: 'Filter to save' },
)
/** Request of Update Saved Filter. */
export const UpdateSavedFilter = Type.Object(
  { name: Type.Optional(filterName), query: Type.Optional(query) },
  { additionalProperties: false, minProperties: 1, description: 'Changes to the filter; at least one of both' },
)

/** A saved filter. */
export const SavedFilter = exactly(
  {
    id: identifier('the filter', example.savedFilterId),
    name: filterName,
    query,
    accountId,
    shared,
    createdTime: unixSeconds('When it was saved', example.createdTime),
  },
  { description: 'Saved filter' },
)
export type SavedFilter = Static<typeof SavedFilter>
