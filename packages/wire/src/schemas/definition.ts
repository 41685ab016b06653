import { example } from '../examples.ts'
import { normalisations } from '../normalisations.ts'
import {
  digestEncodings,
  digests,
  fieldTypes,
  readMeanings,
  recordReadings,
  roles,
  secretForms,
  settingPurposes,
  writeMeanings,
} from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { count, exactly, flag, identifier, oneOf, text } from './kinds.ts'

/** The definition of a connector (not in the specification): enough to show its forms and to map columns to its records. */

const { definitionFields, recordFields } = example

/** A configuration field as its connector defines it: without a value, and with its conditions. */
export const FieldDefinition = Type.Object(
  {
    name: text('Key of the field in a configuration object', 'accessToken'),
    label: text('Display label', 'Access token'),
    description: text('Help text', 'Token from an app that has permission to manage audiences'),
    type: oneOf(fieldTypes, { description: 'Kind of field; a Password is a secret', examples: ['Password'] }),
    required: flag('Whether a value is required, if the field is used'),
    readonly: flag('Whether only the service fills the field', false),
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
    asked: Type.Optional(
      Type.Literal(true, {
        description: 'One of the few settings that a form asks for; it can hide the others at first',
        examples: [true],
      }),
    ),
    meanings: Type.Optional(
      Type.Record(
        Type.String(),
        oneOf([...readMeanings, ...writeMeanings], {
          description:
            'all: reads all rows. new: only new files. changed: only new and changed rows. log: changes from a log. add: adds each row. update: by its key. replace: replaces all rows. mirror: also removes rows that left the source',
          examples: ['all'],
        }),
        {
          description: 'Effect of a choice on the rows that are read or written, by choice',
          examples: [{ Full: 'all', Incremental: 'changed' }],
        },
      ),
    ),
    purpose: Type.Optional(
      oneOf(settingPurposes, {
        description:
          'sent: which rows that were read are sent. key: the columns by which rows are updated. lookBack: how much of the past each transfer reads again. start: where a source that tracks its own position begins',
        examples: ['key'],
      }),
    ),
    default: Type.Optional(text('Default value, as text like every returned value', '540')),
    when: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description:
          'The field is used only if each of these other fields of its group is used, and has one of these values',
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
    keepsState: Type.Optional(
      flag(
        'Whether the state of a connection stays valid if the value changes. Without it, the next transfer reads the source from its beginning after a change',
        true,
      ),
    ),
    role: Type.Optional(
      oneOf(roles, {
        description: 'Only this side of a connection needs it: required when a connection is activated',
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

/** A field of the records of a source or a destination. */
export const RecordDefinition = Type.Object(
  {
    name: text('Name of the field on its platform, which a mapping names', 'email'),
    description: text('What it is', 'E-mail address of the person'),
    required: flag('Whether a record without it is rejected', false),
    normalise: Type.Optional(
      oneOf(normalisations, {
        description: 'The form to which its values are normalised before they are hashed or sent; absent: unchanged',
        examples: ['email'],
      }),
    ),
    hashed: Type.Optional(
      Type.Array(oneOf(digests, { description: 'Digest', examples: ['sha256'] }), {
        description:
          'The value is sent hashed: the accepted digests. Values that are not hashed yet are hashed with the first one',
        examples: [['sha256']],
      }),
    ),
    digestEncoding: Type.Optional(
      oneOf(digestEncodings, {
        description: 'Encoding of its digests when they are sent; hexadecimal by default. Both are accepted',
        examples: ['base64'],
      }),
    ),
    oneOf: Type.Optional(text('A record must fill at least one of the fields in this group', 'identifier')),
    together: Type.Optional(text('A record must fill all fields in this group, or none', 'name')),
    values: Type.Optional(
      Type.Array(Type.String(), { description: 'The only values that it accepts', examples: [['add', 'remove']] }),
    ),
    reads: Type.Optional(
      oneOf(recordReadings, {
        description: 'Its values are numbers or times, and their local forms are accepted',
        examples: ['time'],
      }),
    ),
    synonyms: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Other names of columns that match the field, including common names. Columns are compared without case, accents, spaces and signs',
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
        description: 'Why this deployment cannot move data through the connector in this role; absent if it can',
        examples: [false],
      }),
    ),
    backfill: Type.Optional(
      oneOf(['days', 'times'] as const, {
        description:
          'The ranges that a backfill can read from this source: only days, or days and times; absent if backfills are not supported',
        examples: ['days'],
      }),
    ),
    fields: Type.Array(FieldDefinition, {
      description: 'Settings of each connection for this role',
      examples: [definitionFields.slice(2)],
    }),
    records: Type.Array(RecordDefinition, {
      description:
        'Fields of its records; empty if a destination accepts any columns, or if the columns of a source are not fixed',
      examples: [recordFields],
    }),
    discover: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Settings whose values Discover Values lists, and `columns` if it lists the columns; absent without such settings',
        examples: [['audienceId']],
      }),
    ),
    changeLog: Type.Optional(
      Type.Literal(true, {
        description: 'The source can read the changes of a server from its log; absent if it cannot',
        examples: [true],
      }),
    ),
    removes: Type.Optional(
      Type.Literal(true, {
        description:
          'With some settings, the destination removes rows that the source has removed; absent if it never removes rows',
        examples: [true],
      }),
    ),
    audienceSizes: Type.Optional(
      Type.Literal(true, {
        description: 'The platform says the sizes of audiences that connections feed; absent if it does not',
        examples: [true],
      }),
    ),
    batch: Type.Optional(
      exactly(
        {
          rowsMax: count('Rows', 10_000),
          bytesMax: count('Bytes', 1_048_576),
        },
        { description: 'Limits of a batch with the default settings; absent if this deployment delivers nothing' },
      ),
    ),
    columnTypes: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Types that the setting `columnTypes` can give the columns of a table that a transfer creates; absent without the setting',
        examples: [['text', 'bigint', 'timestamptz']],
      }),
    ),
    creates: Type.Optional(
      exactly(
        {
          what: oneOf(['audience'] as const, { description: 'The kind of object', examples: ['audience'] }),
          records: Type.Array(Type.String(), {
            description: 'Fields of a record that name another one',
            examples: [['segment_name', 'segment_id']],
          }),
          settings: Type.Array(Type.String(), {
            description: 'Settings of the connection that name another one',
            examples: [['audienceName']],
          }),
        },
        {
          description:
            'The first transfer creates this at the platform if neither the mapping nor a setting names one, so a form can ask; absent if a transfer creates nothing without being told',
        },
      ),
    ),
    tries: Type.Optional(
      Type.Literal(true, {
        description: 'Try Destination can send a few rows to it; absent if it cannot',
        examples: [true],
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
    scopes: Type.Array(Type.String(), { description: 'The requested access', examples: [['ads_management']] }),
    fields: Type.Array(Type.String(), {
      description: 'Fields of the configuration that the authorization fills',
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
    description: text('What the connector does, and for whom', 'Adds your customers to audiences, or removes them.'),
    api: Type.Union(
      [
        exactly(
          {
            version: text('Version of the API of the platform that the connector calls', 'v26.0'),
            ends: text('The announced or expected end of this version', 'no end is announced'),
          },
          { description: 'API of the platform' },
        ),
        Type.Null(),
      ],
      { description: 'The API of the platform that the connector calls; null if it has no version', examples: [null] },
    ),
    notes: Type.Union([
      text('Notes before use: quotas, delays, arrangements', 'Members appear within an hour.'),
      Type.Null(),
    ]),
    tested: Type.Union([
      text('What the connector was tested against; null if it cannot move data', 'a protocol server of ours'),
      Type.Null(),
    ]),
    secretFields: Type.Array(FieldDefinition, {
      description: 'Values that a sub-account saves once for all its connections',
      examples: [definitionFields.slice(0, 2)],
    }),
    prepare: Type.Array(Type.String(), {
      description:
        'Requirements before connecting, one sentence each: account, role, permissions, and where to find IDs and tokens. Empty if nothing is required',
      examples: [['Ad account ID: the number after act= in the address of Ads Manager.']],
    }),
    authorization: Type.Union([AuthorizationDefinition, Type.Null()], {
      description:
        'How the connector can be authorized instead of entering credentials; null if it cannot. Get Connector Authorization returns whether this is available in this deployment',
      examples: [null],
    }),
    source: Type.Union([SideDefinition, Type.Null()], {
      description: 'The source role; null if the connector is not a source',
      examples: [null],
    }),
    destination: Type.Union([SideDefinition, Type.Null()], {
      description: 'The destination role; null if the connector is not a destination',
    }),
  },
  { description: 'Connector by its definition' },
)
export type ConnectorDefinition = Static<typeof ConnectorDefinition>
