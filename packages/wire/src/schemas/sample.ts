import { example } from '../examples.ts'
import { sampleObstacles } from '../terms.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { exactly, flag, identifier, oneOf, text, unixSeconds } from './kinds.ts'

const maybe = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** Sample data: invented people in a table of the embedded PostgreSQL. Not in the specification. */

/** The file that becomes the sample: an upload of the sub-account. */
export const CreateSample = exactly(
  { uploadId: identifier('the uploaded file with the people', example.uploadId) },
  { description: 'The file of the sample', examples: [{ uploadId: example.uploadId }] },
)

/** The sample of a sub-account, and whether there can be one. */
export const Sample = exactly(
  {
    available: flag('Whether this deployment can keep sample data in its embedded PostgreSQL'),
    obstacle: maybe(
      oneOf(sampleObstacles, {
        description:
          'Why it cannot: the service does not use its embedded PostgreSQL, or its network policy allows no private addresses',
        examples: ['external_database'],
      }),
    ),
    connectionId: maybe(identifier('the connection of the sample; null: no sample', example.connectionId)),
    transferId: maybe(identifier('the transfer that moves the people', example.transferId)),
    database: maybe(text('Name of the separate database of this sample', 'penstock_sample_1f0c')),
    table: maybe(text('Table of the people', 'people')),
    createdTime: maybe(unixSeconds('When it was created', example.createdTime)),
  },
  { description: 'Sample data of a sub-account' },
)
export type Sample = Static<typeof Sample>
