import { example } from '../examples.ts'
import { digestEncodings, digests, fieldTypes, normalisations, recordReadings, roles, secretForms } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { exactly, flag, identifier, oneOf, text } from './kinds.ts'

/** The definition of a connector (ours): enough to draw its forms and to map columns to its records. */

const { definitionFields, recordFields } = example

/** A configuration field as its connector defines it: without a value, and with what it depends on. */
export const FieldDefinition = Type.Object(
  {
    name: text('Key of the field in a configuration object', 'accessToken'),
    label: text('Display label', 'Access token'),
    description: text('Help text', 'Token from an app that has permission to manage audiences'),
    type: oneOf(fieldTypes, { description: 'Kind of field; a Password is a secret', examples: ['Password'] }),
    required: flag('Whether a value is needed, where the field counts'),
    readonly: flag('Whether the field is filled by the service alone', false),
    min: Type.Optional(Type.Integer({ description: 'Lowest accepted value of a Number', examples: [1] })),
    max: Type.Optional(Type.Integer({ description: 'Highest accepted value of a Number', examples: [540] })),
    options: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Choices of a Select or Multi-Select',
        examples: [['oauth2', 'api-token']],
      }),
    ),
    optionLabels: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Display labels of choices, by choice; choices without one are shown as they are',
        examples: [{ oauth2: 'Sign in with Meta', 'api-token': 'Access token' }],
      }),
    ),
    default: Type.Optional(text('What counts while no value is set, as text like every value that is read', '540')),
    when: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description:
          'The field counts only where each of these other fields of its group counts, and has one of these values',
        examples: [{ authType: ['api-token'] }],
      }),
    ),
    form: Type.Optional(
      oneOf(secretForms, {
        description:
          'The form that a Password must have. standard-webhooks: whsec_ and the Base64 form of 24 to 64 random bytes',
        examples: ['standard-webhooks'],
      }),
    ),
    role: Type.Optional(
      oneOf(roles, {
        description: 'Only this end of a connection needs it: asked for when a connection is activated',
        examples: ['Destination'],
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Configuration field by its definition',
    examples: [definitionFields[1]],
  },
)
export type FieldDefinition = Static<typeof FieldDefinition>

/** A field of a record: what a destination takes, or a source gives. */
export const RecordDefinition = Type.Object(
  {
    name: text('Name of the field on its platform, which a mapping names', 'email'),
    description: text('What it is', 'E-mail address of the person'),
    required: flag('Whether a record without it is rejected', false),
    normalise: Type.Optional(
      oneOf(normalisations, {
        description:
          'The form into which its values are brought before they are hashed or sent; as they are without it',
        examples: ['email'],
      }),
    ),
    hashed: Type.Optional(
      Type.Array(oneOf(digests, { description: 'Digest', examples: ['sha256'] }), {
        description: 'It travels hashed: the digests that are accepted. The first is made of what is not hashed yet',
        examples: [['sha256']],
      }),
    ),
    digestEncoding: Type.Optional(
      oneOf(digestEncodings, {
        description: 'How its digests are written when they are sent; in hexadecimal without it. Both are accepted',
        examples: ['base64'],
      }),
    ),
    oneOf: Type.Optional(text('A record fills at least one of the fields that name this same group', 'identifier')),
    together: Type.Optional(
      text('A record fills all of the fields that name this same group, or none of them', 'name'),
    ),
    values: Type.Optional(
      Type.Array(Type.String(), { description: 'The only values that it accepts', examples: [['add', 'remove']] }),
    ),
    reads: Type.Optional(
      oneOf(recordReadings, {
        description: 'Its values are numbers, or times, of which the local forms are read',
        examples: ['time'],
      }),
    ),
    synonyms: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Other names by which a column of a source is taken for it, the ones in common use included. Columns are compared without case, accents, spaces and signs',
        examples: [['emailaddress', 'mail', 'em']],
      }),
    ),
  },
  { additionalProperties: false, description: 'Field of a record', examples: [recordFields[0]] },
)
export type RecordDefinition = Static<typeof RecordDefinition>

/** One role of a connector. */
export const SideDefinition = Type.Object(
  {
    integrated: Type.Optional(
      Type.Literal(false, {
        description: 'This deployment moves no data through the connector in this role; absent where it does',
        examples: [false],
      }),
    ),
    backfill: Type.Optional(
      oneOf(['days', 'times'] as const, {
        description:
          'The ranges that a backfill can read of it as a source: days alone, or days and times; absent if it can read none',
        examples: ['days'],
      }),
    ),
    fields: Type.Array(FieldDefinition, {
      description: 'Settings of each connection for this role',
      examples: [definitionFields.slice(2)],
    }),
    records: Type.Array(RecordDefinition, {
      description: 'Fields of its records; none where a destination takes any columns, or a source gives what it has',
      examples: [recordFields],
    }),
    discover: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Settings whose values Discover Values lists, and `columns` if it lists the columns; absent if there are none',
        examples: [['audienceId']],
      }),
    ),
    asks: Type.Optional(
      Type.Literal(true, {
        description: 'Ask Source can send one request of it; absent if it cannot',
        examples: [true],
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'One role of a connector',
    examples: [{ fields: definitionFields.slice(2), records: recordFields }],
  },
)
export type SideDefinition = Static<typeof SideDefinition>

/** How a user of the platform grants a connector access with a click. */
export const AuthorizationDefinition = exactly(
  {
    platform: text('The platform at which the user consents', 'Meta'),
    scopes: Type.Array(Type.String(), { description: 'What access is asked for', examples: [['ads_management']] }),
    fields: Type.Array(Type.String(), {
      description: 'Fields of the configuration that the authorization fills, so that no one enters them',
      examples: [['clientId', 'clientSecret', 'refreshToken']],
    }),
  },
  { description: 'Authorization with a click' },
)
export type AuthorizationDefinition = Static<typeof AuthorizationDefinition>

/** Response of Get Connector Definition. */
export const ConnectorDefinition = exactly(
  {
    connectorId: identifier('the connector', example.destination.connectorId),
    name: text('Connector name', example.destination.name),
    notes: Type.Union([
      text('What to know before use: quotas, delays, arrangements', 'Members appear within an hour.'),
      Type.Null(),
    ]),
    tested: Type.Union([
      text('What its way of moving data was run against; null where it moves none', 'a protocol server of ours'),
      Type.Null(),
    ]),
    secretFields: Type.Array(FieldDefinition, {
      description: 'What a sub-account saves once for all its connections',
      examples: [definitionFields.slice(0, 2)],
    }),
    authorization: Type.Union([AuthorizationDefinition, Type.Null()], {
      description:
        'How the connector can be authorized in place of entering credentials; null where it cannot. Whether this deployment has what it takes, Get Connector Authorization says',
      examples: [null],
    }),
    source: Type.Union([SideDefinition, Type.Null()], {
      description: 'As a source; null where it cannot be one',
      examples: [null],
    }),
    destination: Type.Union([SideDefinition, Type.Null()], {
      description: 'As a destination; null where it cannot be one',
    }),
  },
  { description: 'Connector by its definition' },
)
export type ConnectorDefinition = Static<typeof ConnectorDefinition>
