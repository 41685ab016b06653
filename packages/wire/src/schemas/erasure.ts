import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { erasureOutcomes, personIdentifiers } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { exactly, identifier, oneOf, text, unixSeconds } from './kinds.ts'
import { TransferError } from './transfer.ts'

/** Erasing one person at the platforms of destinations (not in the specification). */

const kind = oneOf(personIdentifiers, { description: 'What the value is', examples: ['email'] })

/** An entry of List Erasure Destinations. */
export const ErasureDestination = exactly(
  {
    connectorId: identifier('the connector', example.destination.connectorId),
    connectorName: text('Name of the connector', 'Braze'),
    configurationId: identifier('the configuration', example.destination.configurationId),
    configurationName: text('Name of the configuration', 'Braze EU'),
    kinds: Type.Array(kind, {
      description:
        'Kinds of identifiers by which the platform erases a person. Empty if it cannot be asked: erase the person there yourself',
      examples: [['email', 'phone', 'externalId']],
    }),
    deletes: Type.Union(
      [text('What the platform deletes, and when', 'Deletes the user profiles permanently.'), Type.Null()],
      {
        description: 'What an erasure deletes; null: the platform cannot be asked',
      },
    ),
  },
  { description: 'Configured destination, and how its platform erases a person' },
)
export type ErasureDestination = Static<typeof ErasureDestination>

const personIdentifier = {
  kind,
  value: Type.String({
    minLength: 1,
    maxLength: limits.personValueLengthMax,
    pattern: '\\S',
    description: 'The identifier, as the platform stores it. A phone number has the form +4930123456',
    examples: ['jane.doe@example.com'],
  }),
}

/** Request of Erase At Destination. */
export const EraseAtDestination = exactly(
  {
    identifiers: Type.Array(exactly(personIdentifier, { description: 'Identifier of the person' }), {
      minItems: 1,
      maxItems: limits.personValuesMax,
      description: 'Identifiers of one person. The platform is asked for each one',
    }),
  },
  { description: 'One person, by identifiers' },
)
export type EraseAtDestination = Static<typeof EraseAtDestination>

/** Response of Erase At Destination. */
export const ErasedAtDestination = exactly(
  {
    results: Type.Array(
      exactly(
        {
          ...personIdentifier,
          outcome: oneOf(erasureOutcomes, {
            description:
              '`requested`: the platform accepted the request, and deletes later or does not report whether it has the person. `notFound`: it does not have the person. `unknown`: it did not answer, or was not asked: erase again, which does no harm',
            examples: ['requested'],
          }),
          reason: Type.Union([text('Why', 'The API says: The address is not valid.'), Type.Null()], {
            description: 'Why it was refused, or is unknown; null otherwise',
          }),
        },
        { description: 'Outcome of one identifier' },
      ),
      { description: 'Outcomes in the order of the identifiers' },
    ),
    error: Type.Union([TransferError, Type.Null()], {
      description: 'Why the platform could not be asked; null if it was',
    }),
    erasedTime: unixSeconds('When the platform was asked', example.createdTime),
  },
  { description: 'What the platform answered' },
)
export type ErasedAtDestination = Static<typeof ErasedAtDestination>
