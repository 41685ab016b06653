import { createHash } from 'node:crypto'
import type { DataType, DataTypeCategory, PlatformType, Role, SupportedType } from '@penstock/wire/rules'
import type { Ask } from './ask.ts'
import { type Authorization, errorOfAuthorization } from './authorization.ts'
import type { ChangeLog } from './change-log.ts'
import type { Check } from './check.ts'
import type { ConnectorContext } from './context.ts'
import type { Destination } from './destination.ts'
import type { Discover } from './discovery.ts'
import type { Ecapi } from './ecapi.ts'
import type { Erasure } from './erasure.ts'
import type { EventStore } from './event-streams.ts'
import { type FieldDefinition, type Fields, secret } from './fields.ts'
import type { Exports, Offer } from './handover.ts'
import type { RawFormat } from './raw-rows/raw-layout.ts'
import type { Records } from './records.ts'
import type { Source } from './source.ts'
import type { ManyTables } from './tables.ts'
import { readValues, type Values } from './values.ts'
import { withMapping } from './with-mapping.ts'
import { withNetwork } from './with-network.ts'

/** A company’s product that connectors talk to. */
export type Platform = {
  /** Stable, lowercase, hyphenated; the identifier is derived from it. */
  readonly slug: string
  readonly name: string
  readonly type: PlatformType
  /** Other words with which people search for it in the catalogue, in lower case: `facebook`. */
  readonly alsoCalled?: readonly string[]
  /** Requirements for connecting, a sentence each: account, role, permissions, and where to find IDs and tokens. */
  readonly prepare?: readonly string[]
  /** The brand's slug in simple-icons; without it, a monogram is shown. */
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

/** One role of a connector: the settings of a connection for this side, and its records. */
export type Side = {
  /** Settings of each connection. */
  readonly fields?: Fields
  readonly records?: Records
  /**
   * Lists values of its fields from the platform, by the keys of the fields. `columns` lists the columns of the table or file in
   * the settings.
   */
  readonly discover?: Readonly<Record<string, Discover>>
}

/** The ranges that a source can read. */
export type Backfill = {
  /** `days`: only whole days. `times`: days, and times in UTC. */
  readonly by: 'days' | 'times'
  /** Why it cannot with these settings, as the end of a sentence that recommends a change; `undefined` if it can. */
  readonly whyNot?: (settings: Values) => string | undefined
}

/** The source role. */
export type SourceSide = Side & {
  /** Reads data; absent if the catalogue only lists the connector. Import the code that it needs when it is called. */
  readonly open?: Source
  /** Why a configuration with these values cannot be a source, as the end of a sentence; `undefined` if it can. */
  readonly whyNot?: (configuration: Values) => string | undefined
  /**
   * The source must be read to find its columns, like files. A transfer uses the columns of its own rows, because a discovery
   * would read everything twice and would guess types from values.
   */
  readonly columnsByReading?: boolean
  /** Sends one request, for people who write a definition of the source. Absent if this is not supported. */
  readonly ask?: Ask
  /** How a transfer reads a range of it, independent of the cursor. Absent if it cannot. */
  readonly backfill?: Backfill
  /** How one connection moves many of its tables. Absent if it moves one. */
  readonly manyTables?: ManyTables
  /** The log from which it reads changes. Absent if it does not read changes. */
  readonly changeLog?: ChangeLog
  /** Offers its files to a destination that loads them itself. Absent if the source has no files. */
  readonly offer?: Offer
  /** Writes its rows to a store itself, so that they do not pass through a worker. Absent if this is not supported. */
  readonly exports?: Exports
  /** The forms in which it can return raw rows. Absent if it always returns values. */
  readonly rawFormats?: readonly RawFormat[]
}

/** The destination role. Without `records` it accepts any columns. */
export type DestinationSide = Side & {
  /** Delivers data; absent if the catalogue only lists the connector. */
  readonly deliver?: Destination
  /**
   * The first transfer creates this at the platform if neither one of these fields of a record nor one of these settings names
   * one. Absent if a transfer creates nothing without being told.
   */
  readonly creates?: {
    readonly what: 'audience'
    readonly records: readonly string[]
    readonly settings: readonly string[]
  }
  /** How the platform erases a person. Absent if its API offers no erasure. */
  readonly erasure?: Erasure
  /** How it receives events in the form of the standard ECAPI. Absent if it is no destination of conversions. */
  readonly ecapi?: Ecapi
  /** Types that the setting `columnTypes` can assign to the columns of a created table. Absent without the setting. */
  readonly columnTypes?: readonly string[]
}

/** Why a connector is no longer listed: each reason is a sentence for users. */
export type Withdrawal = { readonly why: string; readonly instead: string }

/** A connector as its author writes it. Catalogue row, form, validation and documents derive from it. */
export type ConnectorDefinition = {
  /** Never changes: the identifier is derived from it. */
  readonly slug: string
  readonly name: string
  readonly platform: Platform
  readonly dataType: DataType
  readonly dataTypeCategory: DataTypeCategory
  /** One or two sentences about what it does, and for whom. */
  readonly description: string
  /** `preview` if little is known about the platform; `withdrawn` if it can no longer be added. */
  readonly status?: 'available' | 'preview' | 'withdrawn'
  /** Why the catalogue does not list it, and what to use instead; present if and only if its status is `withdrawn`. */
  readonly withdrawn?: Withdrawal
  readonly actions?: readonly Action[]
  /** Notes before use: quotas, delays, arrangements. */
  readonly notes?: string
  /** Servers of the tests: real servers by name and version, or our own protocol server. */
  readonly tested?: string
  /** The version of the platform's API that it calls, such as `v26.0`, and the announced or expected end of this version. */
  readonly api?: { readonly version: string; readonly ends: string }
  /** Values that a sub-account saves once for all its connections. Every secret is a `secret` field. */
  readonly secrets: Fields
  /**
   * The fields of `secrets` that name its servers. The user chooses these servers, and they can be in a private network, so
   * configurations can reach them through a bastion (`withNetwork`).
   */
  readonly servers?: readonly string[]
  /** Present if a user of the platform can grant access with a click, instead of entering tokens. */
  readonly authorization?: Authorization
  /** Whether it reads the uploaded files of the sub-account. */
  readonly readsUploads?: true
  /** Whether it reads the rejected records of the sub-account. */
  readonly readsRejects?: true
  /** Whether its configurations receive events, which it reads. */
  readonly readsEvents?: true
  /** Opens the store into which its configurations put events, unless this service stores them. */
  readonly putEvents?: (context: ConnectorContext) => Promise<EventStore>
  /** Present if the connector can be a source. */
  readonly source?: SourceSide
  /** Present if the connector can be a destination. */
  readonly destination?: DestinationSide
  /** Tries the secrets; present if the connector can move data. */
  readonly check?: Check
}

/** A connector of the catalogue: its definition and derived values. */
export type Connector = ConnectorDefinition & {
  /** First 16 hexadecimal characters of SHA-256 over `connector:<slug>`: the same in every deployment. */
  readonly id: string
  readonly platformId: string
  readonly roles: readonly Role[]
  readonly supportedType: SupportedType
  /** Whether this program can move data through it in at least one of its roles; see `movesIn`. */
  readonly integrated: boolean
}

/** Whether this program can move data through a connector in a role. */
export const movesIn = (
  { source, destination }: Pick<ConnectorDefinition, 'source' | 'destination'>,
  role: Role,
): boolean => Boolean(role === 'Source' ? source?.open : destination?.deliver)

/**
 * Creates a connector from its definition. Throws immediately if the definition breaks a rule that the types cannot express: a
 * role is missing, a condition names no field, a default is not an option, a field that sounds secret is not a `secret`.
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
    throw new Error(
      `${definition.slug}: a withdrawn connector must state why it is withdrawn, and other connectors must not`,
    )
  }
  assertFields(definition.slug, definition.secrets)
  const wrong = definition.authorization && errorOfAuthorization(definition.secrets, definition.authorization)
  if (wrong) throw new Error(`${definition.slug}: its authorization ${wrong}`)
  for (const { fields = {}, discover = {} } of [definition.source ?? {}, definition.destination ?? {}]) {
    const unknown = Object.keys(discover).find((key) => key !== 'columns' && !(key in fields))
    if (unknown) throw new Error(`${definition.slug}: discovers ${unknown}, which is not a field of that side`)
    assertFields(definition.slug, fields, definition.secrets)
    const secret = Object.keys(fields).find((key) => fields[key]?.type === 'Password')
    if (secret)
      throw new Error(`${definition.slug}: ${secret} is a secret, which a connection cannot store: move it to secrets`)
    const ofRole = Object.keys(fields).find((key) => fields[key]?.role)
    if (ofRole) throw new Error(`${definition.slug}: ${ofRole} names a role, but is already a field of one side`)
  }
  const { records = {}, ecapi } = definition.destination ?? {}
  const strange = Object.keys(ecapi?.columns ?? {}).find((name) => !Object.hasOwn(records, name))
  if (strange !== undefined) throw new Error(`${definition.slug}: fills ${strange} from ECAPI, which is not a column`)
  return Object.freeze({
    ...definition,
    secrets: withNetwork(withHashKey(definition, roles), definition.servers),
    ...(definition.destination ? { destination: withMapping(definition.destination) } : {}),
    id: catalogueId('connector', definition.slug),
    platformId: catalogueId('platform', definition.platform.slug),
    roles,
    supportedType: roles.join(', ') as SupportedType,
    integrated: roles.some((role) => movesIn(definition, role)),
  })
}

/** A destination that accepts any columns also has a key for keyed hashes, which the engine reads. */
function withHashKey({ secrets, destination }: ConnectorDefinition, roles: readonly Role[]): Fields {
  if (!destination?.deliver || destination.records) return secrets
  return {
    ...secrets,
    hashKey: secret({
      label: 'Hash key',
      description: 'Only needed for mappings that hash with hmac(…). Enter a long random text',
      ...(roles.length > 1 && { role: 'Destination' }),
    }),
  }
}

/** The settings of a connection for a connector in a role. */
export function fieldsOfRole(
  { source, destination }: Pick<ConnectorDefinition, 'source' | 'destination'>,
  role: Role,
): Fields {
  return (role === 'Source' ? source : destination)?.fields ?? {}
}

/** The limits of a batch of a destination with its default settings; undefined if it delivers no data. */
export function usualBatch({ fields = {}, deliver }: DestinationSide): ReturnType<Destination['batch']> | undefined {
  const settings: Values = Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]) => (field.default === undefined ? [] : [[key, field.default]])),
  )
  return deliver?.batch(settings)
}

/** Names a platform; an identity function that checks the type. */
export const definePlatform = (platform: Platform): Platform => Object.freeze(platform)

/** The identifier of an entry of the catalogue, derived only from its slug: the same everywhere. */
export function catalogueId(kind: 'connector' | 'platform', slug: string): string {
  return createHash('sha256').update(`${kind}:${slug}`).digest('hex').slice(0, 16)
}

const soundsSecret =
  /secret|passw|passphrase|credential|privatekey|token$|apikey|accesskey$|accountkey|jsonkey|sasurl|connectionstring/i

/**
 *  Names of fields that determine where secrets are sent. A field such as a region, which selects one of a cloud's own
 *  addresses, is not included.
 */
const soundsLikeDestination = /^(port|pod)$|(host|hostname|url|uri|endpoint|server|domain|tenant|tenantId)$/i

function assertFields(slug: string, fields: Fields, secrets: Fields = fields): void {
  for (const [key, field] of Object.entries(fields)) {
    const fieldError = errorOfField(fields, key, field) ?? errorOfBinding(fields, key, field, secrets)
    if (fieldError) throw new Error(`${slug}: field ${key} ${fieldError}`)
  }
}

function errorOfField(fields: Fields, key: string, field: FieldDefinition): string | undefined {
  const { type, options, labels = {}, meanings = {}, min, max, required, readonly, when = {} } = field
  if (soundsSecret.test(key) && type !== 'Password') return 'sounds secret and must be a secret field'
  if (required && readonly) return 'is filled by the service, so a caller cannot be required to send it'
  if (type.endsWith('Select') && !options?.length) return 'needs options'
  const unknown = Object.keys(labels).find((option) => !options?.includes(option))
  if (unknown !== undefined) return `has a label for ${unknown}, which is not one of its options`
  const meant = Object.keys(meanings).find((option) => !options?.includes(option))
  if (meant !== undefined) return `has a meaning for ${meant}, which is not one of its options`
  if (min !== undefined && max !== undefined && min > max) return 'has a min above its max'
  const invalid =
    field.default === undefined
      ? []
      : readValues({ [key]: { ...field, readonly: false } }, { [key]: field.default }, key).fieldErrors
  if (invalid[0]) return `has a default that ${invalid[0].message}`
  for (const [other, values] of Object.entries(when)) {
    const choice = fields[other]
    if (other === key || choice?.type !== 'Select')
      return `depends on ${other}, which is not a choice of the same group`
    const strange = [values].flat().find((value) => !choice.options?.includes(value))
    if (strange !== undefined) return `depends on ${other} being ${strange}, which is not one of its options`
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
  if (stranger !== undefined) return `binds ${stranger}, which is not a secret of the same group`
  if (type === 'Password') {
    return binds.length > 0 ? 'binds secrets, but is a secret itself: a stored secret cannot be compared' : undefined
  }
  if (readonly || binds.length > 0 || !soundsLikeDestination.test(key)) return undefined
  const bound = Object.values(fields).some((other) => other.type === 'Password')
  return bound ? 'sounds like a destination and must name in binds which secrets are sent there' : undefined
}
