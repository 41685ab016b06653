import {
  type Authorization,
  type Connector,
  type FieldDefinition,
  type Fields,
  movesIn,
  type RecordField,
  type Records,
  type Side,
  usualBatch,
} from '@penstock/connector'
import type { PersonIdentifierKind, Role } from '@penstock/wire'
import { ecapiSection } from './ecapi.ts'
import { code, markdownTable, plain } from './markdown.ts'

/** All that the definition of a connector says, in Markdown. */
export function connectorArticle(connector: Connector): string {
  const { description, status, withdrawn, notes, secrets, authorization, source, destination } = connector
  const parts = [
    plain(description),
    status ? (statusNotes[status] ?? '') : '',
    withdrawn ? plain(`${withdrawn.why} ${withdrawn.instead}`) : '',
    facts(connector),
    prepare(connector),
    notes ? `## Before you use it\n\n${plain(notes)}` : '',
    '## Configuration',
    ...configuration(secrets, authorization),
    ...(source ? side('Source', source) : []),
    ...(destination ? side('Destination', destination) : []),
    ecapiSection(connector),
    erasureSection(connector),
    limits(connector),
  ]
  return parts.filter(Boolean).join('\n\n')
}

/** The erasure of a person, and the identifiers for it. */
function erasureSection({ destination }: Connector): string {
  const { erasure } = destination ?? {}
  if (!erasure) return ''
  const kinds = erasure.by({}).map((kind) => identifierNames[kind])
  const by = kinds.length === 0 ? 'by the identifiers that its definition names' : `by: ${kinds.join(', ')}`
  return `## Erasing a person\n\n[A person can be erased](/docs/data-subjects#erase-a-person-at-destinations) ${by}. ${plain(erasure.what)}`
}

const identifierNames: Readonly<Record<PersonIdentifierKind, string>> = {
  email: 'e-mail address',
  phone: 'phone number',
  externalId: 'your ID of the person',
}

const prepare = ({ platform: { prepare = [] } }: Connector): string =>
  prepare.length === 0 ? '' : `## What to have ready\n\n${prepare.map((sentence) => `- ${plain(sentence)}`).join('\n')}`

const statusNotes: { readonly [S in NonNullable<Connector['status']>]?: string } = {
  preview: '> In preview: little is published about this platform, and the definition may still change.',
  withdrawn: '> Withdrawn: it can no longer be added. Sub-accounts that have added it keep it.',
}

function facts(connector: Connector): string {
  const { slug, id, platform, platformId, roles, dataType, dataTypeCategory, actions, integrated, api, tested } =
    connector
  const idle = roles.filter((role) => !movesIn(connector, role))
  return markdownTable(
    ['', ''],
    [
      ['Platform', plain(`${platform.name}, ${platform.type}`)],
      ['Role', roles.join(', ')],
      ['Data type', plain(dataType)],
      ['Category', plain(dataTypeCategory)],
      ...(actions ? [['Actions', plain(actions.join(', '))]] : []),
      ['Data moves', integrated ? 'yes' : connector.withdrawn ? 'no' : 'not yet'],
      ...(integrated && idle.length > 0 ? [['Configuration only', `as a ${idle.join(', ').toLowerCase()}`]] : []),
      ...(api ? [['API version', plain(`${api.version}; ${api.ends}`)]] : []),
      ['Slug', code(slug)],
      ['Connector ID', code(id)],
      ['Platform ID', code(platformId)],
      ...(tested ? [['Tested against', plain(tested)]] : []),
    ],
  ).replace('|  |  |', '| | |')
}

function configuration(secrets: Fields, authorization: Authorization | undefined): string[] {
  if (Object.keys(secrets).length === 0) return ['There is nothing to configure.']
  return [
    'Saved once for all connections of a sub-account, in `secretConfig` of *Configure a connector*. A Password is sealed when it is stored and never read back.',
    authorization ? authorizationNote(authorization) : '',
    fieldsTable(secrets),
  ]
}

/** How a user authorizes the connector, where the operator has seen to it. */
const authorizationNote = ({ server, scopes, client, refreshToken }: Authorization): string =>
  `If the operator has registered an app with ${plain(server.name)}, [sign in with a click](../authorizations.md) instead of entering ${codes([client.id, client.secret, refreshToken])}. The app requests ${codes(scopes)}.`

const sides: { readonly [R in Role]: { config: string; records: string } } = {
  Source: { config: 'srcConnectionConfig', records: 'Columns it gives' },
  Destination: { config: 'destConnectionConfig', records: 'Columns it takes' },
}

function side(role: Role, { fields = {}, records = {}, discover = {} }: Side): string[] {
  const { config, records: heading } = sides[role]
  return [
    `## As a ${role.toLowerCase()}`,
    '### Settings of a connection',
    Object.keys(fields).length > 0
      ? `Made by each connection for itself, in \`${config}\`.\n\n${fieldsTable(fields)}`
      : 'A connection has no settings for this side.',
    discoveryNote(fields, Object.keys(discover)),
    `### ${heading}`,
    Object.keys(records).length > 0 ? recordsTable(records) : 'No columns are fixed: they follow from the data.',
  ]
}

/** Which settings can be picked from a list. */
function discoveryNote(fields: Fields, discovered: readonly string[]): string {
  const listed = discovered.filter((key) => Object.hasOwn(fields, key))
  if (listed.length === 0) return ''
  return `The console lists the values of ${codes(listed)} that the platform has, to pick from, as *Discover values of a setting* does in the API. Any other value can be entered.`
}

/** Limits of a batch, with the default settings. */
function limits({ destination }: Connector): string {
  const batch = destination && usualBatch(destination)
  if (!batch) return ''
  const { rowsMax, bytesMax } = batch
  return `### Limits\n\nA batch holds at most ${rowsMax.toLocaleString('en')} rows and ${bytesMax.toLocaleString('en')} bytes.`
}

/** The fields of a configuration: their names, the values that they accept, and when they are required. */
const fieldsTable = (fields: Fields): string =>
  markdownTable(
    ['Field', 'Type', 'Required', 'Description'],
    Object.entries(fields).map(([key, field]) => {
      const { label, description, options, labels = {}, default: preset, binds = [] } = field
      return [
        `${plain(label)} ${code(key)}`,
        typeOf(field),
        requirementOf(field, fields),
        sentences(
          plain(description),
          options && `One of: ${options.map((option) => named(option, labels[option])).join(', ')}`,
          preset !== undefined && `Unless set: ${code([preset].flat().join(', '))}`,
          binds.length > 0 &&
            `When it changes, send these again: ${binds.map((name) => plain(fields[name]?.label ?? name)).join(', ')}`,
        ),
      ]
    }),
  )

/** An option with its value in the API and its label. */
const named = (option: string, label: string | undefined) =>
  label === undefined ? code(option) : `${code(option)} (${plain(label)})`

function typeOf({ type, min, max }: FieldDefinition): string {
  if (min !== undefined && max !== undefined) return `${type}, ${min} to ${max}`
  if (min !== undefined) return `${type}, ${min} or more`
  if (max !== undefined) return `${type}, ${max} or less`
  return type
}

function requirementOf({ required, readonly, role, when }: FieldDefinition, fields: Fields): string {
  if (readonly) return 'The service fills it'
  const conditions = [
    ...(role ? [`as a ${role.toLowerCase()}`] : []),
    ...Object.entries(when ?? {}).map(
      ([other, values]) => `where ${plain(fields[other]?.label ?? other)} is ${plain([values].flat().join(' or '))}`,
    ),
  ]
  if (conditions.length === 0) return required ? 'Yes' : 'No'
  return required ? `Yes, ${conditions.join(', ')}` : `No; counts ${conditions.join(', ')}`
}

/** The columns of a record, and the rules that hold between them. */
const recordsTable = (records: Records): string =>
  [
    ...groupRules(records, 'oneOf', 'At least one of these in every row:'),
    ...groupRules(records, 'together', 'All of these in a row, or none:'),
    markdownTable(
      ['Column', 'Kind', 'Type', 'Required', 'Form', 'Description'],
      Object.entries(records).map(([key, field]) => {
        const { kind, type, normalise, description, values, identifiers, hashed, digestEncoding, reports } = field
        return [
          code(key),
          kind ? plain(kind) : '',
          type ? plain(type) : '',
          needOf(field, records),
          normalise ? plain(normalise) : '',
          sentences(
            plain(description),
            values && `One of: ${codes(values)}`,
            identifiers && `Identifiers: ${codes(identifiers)}`,
            hashed &&
              `Hashed with: ${hashed.map((digest) => digests[digest]).join(' or ')}${digestEncoding === 'base64' ? ', written in Base64' : ''}`,
            reports && `In the reports: ${codes(reports)}`,
          ),
        ]
      }),
    ),
  ].join('\n\n')

const digests: Readonly<Record<NonNullable<RecordField['hashed']>[number], string>> = {
  sha256: 'SHA-256',
  sha512: 'SHA-512',
  md5: 'MD5',
}

const isDelivered = (records: Records) => Object.values(records).every(({ kind }) => kind === undefined)

/** The columns of a source are read, so nobody has to fill them. */
function needOf({ required, oneOf }: RecordField, records: Records): string {
  if (!isDelivered(records)) return ''
  if (required) return 'Yes'
  return oneOf === undefined ? 'No' : 'One of its group'
}

function groupRules(records: Records, rule: 'oneOf' | 'together', says: string): string[] {
  const members = Object.entries(records).filter(([, field]) => field[rule] !== undefined)
  const groups = Map.groupBy(members, ([, field]) => field[rule])
  return [...groups.values()].map((group) => `${says} ${codes(group.map(([key]) => key))}`)
}

const codes = (texts: readonly string[]): string => texts.map(code).join(', ')

/** Sentences, each with a full stop at its end, which a text can already have. */
const sentences = (...texts: readonly (string | undefined | false)[]): string =>
  texts
    .filter((text) => text !== undefined && text !== false)
    .map((text) => (/[.!?]$/.test(text) ? text : `${text}.`))
    .join(' ')
