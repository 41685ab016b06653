import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { count, exactly, identifier, text } from './kinds.ts'

/** Tags and owners of connections. Not in the specification. */

/** A tag: 1 to 50 characters after trimming, without commas, which separate tags in a filter, and control characters. */
const tag = Type.String({
  pattern: `^\\s*[^\\u0000-\\u001f\\u007f-\\u009f,\\s](?:[^\\u0000-\\u001f\\u007f-\\u009f,]{0,${limits.tagLengthMax - 2}}[^\\u0000-\\u001f\\u007f-\\u009f,\\s])?\\s*$`,
  description: `Tag, 1 to ${limits.tagLengthMax} characters after trimming, no commas and control characters`,
  examples: ['production'],
})

const tags = Type.Array(tag, {
  maxItems: limits.tagsMax,
  description: `Tags, at most ${limits.tagsMax}; they differ by more than the letter case`,
  examples: [['production']],
})

const owner = Type.Union(
  [
    exactly(
      {
        id: identifier('the person', example.ownerId),
        name: Type.Union([text('Name', 'Robin Vale'), Type.Null()], { description: 'Name; null: not given yet' }),
        email: text('E-mail address', 'robin@example.com'),
      },
      { description: 'Person of the organization' },
    ),
    Type.Null(),
  ],
  { description: 'Person who is responsible for the connection; null: nobody' },
)

/** The keys of labels, for other schemas. */
export const labelFields = { tags, owner }

/** Request of Set Labels. */
export const SetConnectionLabels = Type.Object(
  {
    tags: Type.Optional(tags),
    ownerEmail: Type.Optional(
      Type.Union([text('E-mail address of a person who can see the sub-account', 'robin@example.com'), Type.Null()], {
        description: 'Owner of the connection: the e-mail address of a person of the organization; null: no owner',
      }),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'All tags, and the owner; at least one of both',
    examples: [{ tags: ['production'], ownerEmail: null }],
  },
)

/** Tags and owner of a connection. */
export const ConnectionLabels = exactly(
  {
    connectionId: identifier('the connection', example.connectionId),
    accountId: identifier('the sub-account', example.accountId),
    ...labelFields,
  },
  { description: 'Tags and owner of a connection' },
)
export type ConnectionLabels = Static<typeof ConnectionLabels>

/** A tag and the number of its connections. */
export const ConnectionTag = exactly(
  { tag, connections: count('Number of connections with this tag, without deleted ones', 12) },
  { description: 'Tag of connections' },
)
export type ConnectionTag = Static<typeof ConnectionTag>
