import { createHash } from 'node:crypto'
import type { DataType, DataTypeCategory, PlatformType, Role, SupportedType } from '@penstock/wire/rules'
import type { Ask } from './ask.ts'
import { type Authorization, errorOfAuthorization } from './authorization.ts'
import type { Check } from './check.ts'
import type { Destination } from './destination.ts'
import type { Discover } from './discovery.ts'
import { type FieldDefinition, type Fields, secret, select, text } from './fields.ts'
import type { Exports, Offer } from './handover.ts'
import type { Records } from './records.ts'
import type { Source } from './source.ts'
import { readValues, type Values } from './values.ts'

/** A company’s product that connectors talk to. */
export type Platform = {
  /** Stable, lowercase, hyphenated; the identifier derives from it. */
  readonly slug: string
  readonly name: string
  readonly type: PlatformType
  /** Other words by which people look for it in the catalogue, in lower case: `facebook`. */
  readonly alsoCalled?: readonly string[]
  /** The brand's slug in simple-icons; absent if it has none, and a monogram is drawn. */
  readonly icon?: string
}

/** Actions of platforms on records, in the words of the platforms. */
export type Action =
  | 'add'
  | 'append'
  | 'create'
  | 'delete'
  | 'get'
  | 'push'
  | 'put'
  | 'read'
  | 'remove'
  | 'replace'
  | 'send'
  | 'update'
  | 'upload'
  | 'write'

/** One role of a connector: what a connection must say of this side, and the records that pass. */
export type Side = {
  /** Settings that each connection makes for itself. */
  readonly fields?: Fields
  readonly records?: Records
  /** Lists values of its fields at the platform, by the keys of the fields; `columns` lists the columns of the table or file in the settings. */
  readonly discover?: Readonly<Record<string, Discover>>
}

/** The ranges that a source can read. */
export type Backfill = {
  /** `days`: whole days alone. `times`: days, and times in UTC. */
  readonly by: 'days' | 'times'
  /** Why it cannot with these settings, as the end of a sentence that says what to change; `undefined` if it can. */
  readonly whyNot?: (settings: Values) => string | undefined
}

/** The end that data comes from. */
export type SourceSide = Side & {
  /** Reads data; absent where the catalogue only knows the connector. Loads what it needs when it is called. */
  readonly open?: Source
  /**
   * The source must be read to find its columns, as files must. A transfer takes them from its own rows. Discovering them first would read
   * everything twice, and would guess types from values.
   */
  readonly columnsByReading?: boolean
  /** Sends one request, for people who describe the source. Absent if it has no such requests. */
  readonly ask?: Ask
  /** How a transfer reads a range of it, beside the cursor. Absent if it cannot. */
  readonly backfill?: Backfill
  /** Offers its files to a destination that loads them itself. Absent if it has none. */
  readonly offer?: Offer
  /** Writes its rows to a store itself, so that they pass no worker. Absent if it cannot. */
  readonly exports?: Exports
}

/** The end that data goes to. Without `records` it takes any columns. */
export type DestinationSide = Side & {
  /** Delivers data; absent where the catalogue only knows the connector. */
  readonly deliver?: Destination
}

/** Why a connector is not listed any more: each a sentence for users. */
export type Withdrawal = { readonly why: string; readonly instead: string }

/** A connector as its author writes it. Catalogue row, form, validation and documents derive from it. */
export type ConnectorDefinition = {
  /** Never changes: the identifier derives from it. */
  readonly slug: string
  readonly name: string
  readonly platform: Platform
  readonly dataType: DataType
  readonly dataTypeCategory: DataTypeCategory
  /** One or two sentences: what it does, for whom. */
  readonly description: string
  /** `preview` where the facts about the platform are thin; `withdrawn` if it must not be added any more. */
  readonly status?: 'available' | 'preview' | 'withdrawn'
  /** Why the catalogue does not list it, and what to use instead; given if and only if its status is `withdrawn`. */
  readonly withdrawn?: Withdrawal
  readonly actions?: readonly Action[]
  /** Notes before use: quotas, delays, arrangements. */
  readonly notes?: string
  /** Servers of the tests: real servers by name and version, or our own protocol server. */
  readonly tested?: string
  /** The version of the platform's API that it calls, such as `v26.0`, and when that ends, as the platform says or as is expected. */
  readonly api?: { readonly version: string; readonly ends: string }
  /** Values that a sub-account saves once for all its connections. Every secret is a `secret` field. */
  readonly secrets: Fields
  /** Present where a user of the platform can grant access with a click, in place of entering tokens. */
  readonly authorization?: Authorization
  /** Whether it reads the uploaded files of the sub-account. */
  readonly readsUploads?: true
  /** Whether it reads the rejected records of the sub-account. */
  readonly readsRejects?: true
  /** Present where the connector can be a source. */
  readonly source?: SourceSide
  /** Present where the connector can be a destination. */
  readonly destination?: DestinationSide
  /** Tries the secrets; present where data can be moved. */
  readonly check?: Check
}

/** A connector of the catalogue: its definition and what follows from it. */
export type Connector = ConnectorDefinition & {
  /** First 16 hexadecimal characters of SHA-256 over `connector:<slug>`: the same in every deployment. */
  readonly id: string
  readonly platformId: string
  readonly roles: readonly Role[]
  readonly supportedType: SupportedType
  /** Whether this program can move data through it in at least one of its roles; `movesIn` says in which. */
  readonly integrated: boolean
}

/** Whether this program can move data through a connector in a role. */
export const movesIn = (
  { source, destination }: Pick<ConnectorDefinition, 'source' | 'destination'>,
  role: Role,
): boolean => Boolean(role === 'Source' ? source?.open : destination?.deliver)

/**
 * Makes a connector from its definition. Fails at once, as a programmer's error, on a definition that breaks a rule
 * which the types cannot express: a role is missing, a condition names no field, a default is not an option,
 * a field that sounds secret is not a `secret`.
 */
export function defineConnector(definition: ConnectorDefinition): Connector {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(definition.slug)) {
    throw new Error(`${definition.slug}: a slug is lowercase words joined by hyphens`)
  }
  const roles: Role[] = []
  if (definition.source) roles.push('Source')
  if (definition.destination) roles.push('Destination')
  if (roles.length === 0) throw new Error(`${definition.slug}: a connector needs a source or a destination`)
  if ((definition.status === 'withdrawn') !== Boolean(definition.withdrawn)) {
    throw new Error(`${definition.slug}: a withdrawn connector, and no other, says why it is withdrawn`)
  }
  assertFields(definition.slug, definition.secrets)
  const wrong = definition.authorization && errorOfAuthorization(definition.secrets, definition.authorization)
  if (wrong) throw new Error(`${definition.slug}: its authorization ${wrong}`)
  for (const { fields = {}, discover = {} } of [definition.source ?? {}, definition.destination ?? {}]) {
    const unknown = Object.keys(discover).find((key) => key !== 'columns' && !(key in fields))
    if (unknown) throw new Error(`${definition.slug}: discovers ${unknown}, which is no field of that side`)
    assertFields(definition.slug, fields, definition.secrets)
    const secret = Object.keys(fields).find((key) => fields[key]?.type === 'Password')
    if (secret)
      throw new Error(`${definition.slug}: ${secret} is a secret, which no connection keeps: move it to secrets`)
    const ofRole = Object.keys(fields).find((key) => fields[key]?.role)
    if (ofRole)
      throw new Error(`${definition.slug}: ${ofRole} names a role, but is a field of a side that has it already`)
  }
  return Object.freeze({
    ...definition,
    secrets: withHashKey(definition, roles),
    ...(definition.destination ? { destination: withMapping(definition.destination) } : {}),
    id: catalogueId('connector', definition.slug),
    platformId: catalogueId('platform', definition.platform.slug),
    roles,
    supportedType: roles.join(', ') as SupportedType,
    integrated: roles.some((role) => movesIn(definition, role)),
  })
}

/** A destination that takes any columns also has a key for keyed hashes, which the engine reads. */
function withHashKey({ secrets, destination }: ConnectorDefinition, roles: readonly Role[]): Fields {
  if (!destination?.deliver || destination.records) return secrets
  return {
    ...secrets,
    hashKey: secret({
      label: 'Hash key',
      description: 'Key of hmac(…) in mappings: who does not have it cannot guess hashed values. Needed only for that',
      ...(roles.length > 1 && { role: 'Destination' }),
    }),
  }
}

/** A destination that data moves to also takes the mapping, which the engine reads. */
function withMapping(side: DestinationSide): DestinationSide {
  if (!side.deliver) return side
  const times = Object.values(side.records ?? {}).some(({ reads }) => reads === 'time')
  const phones = Object.values(side.records ?? {}).some(({ normalise }) => normalise?.startsWith('phone-'))
  return {
    ...side,
    fields: {
      ...side.fields,
      mapping: text({
        label: 'Mapping',
        description: side.records
          ? 'Which column of the source fills which field, if their names do not match: {"email": "E-mail address"}'
          : 'Which columns are sent, and under which names; by default all, unchanged: {"name": "column of the source"}',
      }),
      filter: text({
        label: 'Filter',
        description:
          'Which records are sent, as an expression over the columns of the source: row.country == "DE" && bool(row.consent). By default all',
      }),
      sendRows: rowsToSend(side.deliver),
      rowKey: text({
        label: 'Row key',
        description:
          'Columns of the destination that identify a row, separated by commas, or * for all columns; not needed if it has key columns',
        when: { sendRows: 'Changed' },
      }),
      duplicates: select({
        label: 'Records with the same key',
        description:
          'Which of several records of a transfer with the same key is sent; all if this is empty. The last one, and the one with the greatest or least value, are found by reading the source twice',
        options: ['All', 'First', 'Last', 'Greatest', 'Least'],
        labels: {
          All: 'Send all',
          First: 'Send the first',
          Last: 'Send the last',
          Greatest: 'Send the one with the greatest value',
          Least: 'Send the one with the least value',
        },
      }),
      duplicateKey: text({
        label: 'Key of duplicates',
        description:
          'Columns of the destination, separated by commas, or * for all columns; if it is empty, the key columns of the destination, or the row key. Records without a value in all of them are sent',
        when: { duplicates: ['First', 'Last', 'Greatest', 'Least'] },
      }),
      duplicateColumn: text({
        label: 'Deciding column',
        description:
          'Column of the source whose value decides: numbers, dates and times in ISO 8601, or texts. Empty values lose; of equal values, the first record is sent',
        when: { duplicates: ['Greatest', 'Least'] },
      }),
      ...(phones
        ? {
            defaultCountry: text({
              label: 'Default country',
              description: 'Country of phone numbers without a country code, as a two-letter code: DE',
            }),
          }
        : {}),
      ...(times
        ? {
            defaultTimezone: text({
              label: 'Default time zone',
              description: 'Time zone of times without one, such as Europe/Berlin',
            }),
          }
        : {}),
    },
  }
}

/** Only a destination that removes rows can be a mirror of the source. */
const rowsToSend = ({ removesBy }: Destination): FieldDefinition => {
  const changed = 'All rows, or only rows that are new or changed since the destination confirmed them'
  const labels = { All: 'All rows', Changed: 'New and changed rows' }
  if (!removesBy) {
    return select({
      label: 'Rows to send',
      description: `${changed}; all if this is empty`,
      options: ['All', 'Changed'],
      labels,
    })
  }
  return select({
    label: 'Rows to send',
    description: `${changed}. A mirror also removes rows that left the source; it needs Upsert, and a source that gives all of its rows in each transfer. All if this is empty`,
    options: ['All', 'Changed', 'Mirror'],
    labels: { ...labels, Mirror: 'Mirror: new and changed rows, and removals' },
  })
}

/** The settings that a connection makes for a connector in a role. */
export function fieldsOfRole(
  { source, destination }: Pick<ConnectorDefinition, 'source' | 'destination'>,
  role: Role,
): Fields {
  return (role === 'Source' ? source : destination)?.fields ?? {}
}

/** Names a platform; an identity function that checks the type. */
export const definePlatform = (platform: Platform): Platform => Object.freeze(platform)

/** The identifier of a thing of the catalogue: the same everywhere, from its slug alone. */
export function catalogueId(kind: 'connector' | 'platform', slug: string): string {
  return createHash('sha256').update(`${kind}:${slug}`).digest('hex').slice(0, 16)
}

const soundsSecret =
  /secret|passw|passphrase|credential|privatekey|token$|apikey|accesskey$|accountkey|jsonkey|sasurl|connectionstring/i

/** Names of what says where secrets go; what goes to the clouds' own addresses, as a region does, is not meant. */
const soundsLikeDestination = /^(port|pod)$|(host|hostname|url|uri|endpoint|server|domain|tenant|tenantId)$/i

function assertFields(slug: string, fields: Fields, secrets: Fields = fields): void {
  for (const [key, field] of Object.entries(fields)) {
    const fieldError = errorOfField(fields, key, field) ?? errorOfBinding(fields, key, field, secrets)
    if (fieldError) throw new Error(`${slug}: field ${key} ${fieldError}`)
  }
}

function errorOfField(fields: Fields, key: string, field: FieldDefinition): string | undefined {
  const { type, options, labels = {}, min, max, required, readonly, when = {} } = field
  if (soundsSecret.test(key) && type !== 'Password') return 'sounds secret and must be a secret field'
  if (required && readonly) return 'is filled by the service and so cannot be required of a caller'
  if (type.endsWith('Select') && !options?.length) return 'needs options'
  const unknown = Object.keys(labels).find((option) => !options?.includes(option))
  if (unknown !== undefined) return `has a label for ${unknown}, which is not an option of it`
  if (min !== undefined && max !== undefined && min > max) return 'has a min above its max'
  const invalid =
    field.default === undefined
      ? []
      : readValues({ [key]: { ...field, readonly: false } }, { [key]: field.default }, key).fieldErrors
  if (invalid[0]) return `has a default that ${invalid[0].message}`
  for (const [other, values] of Object.entries(when)) {
    const choice = fields[other]
    if (other === key || choice?.type !== 'Select') return `depends on ${other}, which is no choice of the same group`
    const strange = [values].flat().find((value) => !choice.options?.includes(value))
    if (strange !== undefined) return `depends on ${other} being ${strange}, which is not an option of it`
  }
  return undefined
}

function errorOfBinding(
  fields: Fields,
  key: string,
  { type, binds = [], readonly }: FieldDefinition,
  secrets: Fields,
): string | undefined {
  const isSecret = (name: string) =>
    [fields, secrets].some((group) => Object.hasOwn(group, name) && group[name]?.type === 'Password')
  const stranger = binds.find((name) => !isSecret(name))
  if (stranger !== undefined) return `binds ${stranger}, which is no secret of the same group`
  if (type === 'Password') {
    return binds.length > 0 ? 'binds secrets, but is one itself: a stored value cannot be compared' : undefined
  }
  if (readonly || binds.length > 0 || !soundsLikeDestination.test(key)) return undefined
  const bound = Object.values(fields).some((other) => other.type === 'Password')
  return bound ? 'sounds like a destination and must say in binds which secrets go there' : undefined
}
