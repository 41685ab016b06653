import type { Connector, FieldDefinition, Fields } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import { connectorBySlug } from '../harness/fixtures.ts'
import { type Account, type Connection, configurationOf, type Value, type Values } from './model.ts'

/** Connectors in the model: their names, their compatibility, and their settings. */

export const mask = '********'
export type Role = 'Source' | 'Destination'

/** Connectors of every kind that matters: one role or both, conditions, roles' own secrets, nothing to configure. */
export const pool: readonly Connector[] = [
  'amazon-s3-source',
  'snowflake-destination',
  'mparticle-events',
  'google-sheets',
  'adobe-audience-manager',
  'file-upload',
  'liveramp-id-match',
].map(connectorBySlug)

export const connectorById = (id: string): Connector | undefined => connectors.find((connector) => connector.id === id)

/** Settings of a side, except those whose texts have a grammar that random ones do not keep to. */
export const sideFields = (connector: Connector, role: Role): Fields => {
  const { mapping, filter, defaultCountry, defaultTimezone, ...fields } =
    (role === 'Source' ? connector.source : connector.destination)?.fields ?? {}
  return fields
}

/** A connector without fields to fill in is configured from the start. */
export const isConfiguredFromStart = ({ secrets }: Connector) => Object.values(secrets).every((field) => field.readonly)

/** Roles and categories, as "Compatible" has them. */
export function fits(source: Connector, destination: Connector): boolean {
  if (!source.roles.includes('Source') || !destination.roles.includes('Destination')) return false
  if (source.id === destination.id && source.roles.length < 2) return false
  const [from, to] = [source.dataTypeCategory, destination.dataTypeCategory]
  if (from === 'data store' || to === 'data store' || from === to) return true
  return from === 'identity management' && to === 'audience activation'
}

/** The values after a caller sent some. Undefined if one is invalid. */
export function merged(fields: Fields, current: Values, given: Readonly<Record<string, unknown>>): Values | undefined {
  const after: Values = { ...current }
  for (const [key, sent] of Object.entries(given)) {
    const field = fields[key]
    if (!field) return undefined
    if (field.type === 'Password' && sent === mask) {
      if (!(key in current)) return undefined
    } else if (sent === null || sent === '') delete after[key]
    else if (field.readonly || !isRight(field, sent)) return undefined
    else after[key] = sent
  }
  return dropUnbound(fields, current, given, after)
}

/** Stored secrets do not follow to a new destination: secrets in use must be sent again, other secrets are removed. */
function dropUnbound(fields: Fields, current: Values, given: object, after: Values): Values | undefined {
  const shown = (values: Values, key: string) => String(values[key] ?? fields[key]?.default ?? '')
  for (const [key, { binds = [] }] of Object.entries(fields)) {
    if (shown(current, key) === shown(after, key)) continue
    for (const name of binds) {
      const isKept = name in current && (!(name in given) || (given as Values)[name] === mask)
      if (isKept && countsNow(fields, name, after)) return undefined
      if (isKept) delete after[name]
    }
  }
  return after
}

function isRight({ type, options, min = -Infinity, max = Infinity }: FieldDefinition, sent: unknown): sent is Value {
  if (type === 'Number') return Number.isSafeInteger(sent) && Number(sent) >= min && Number(sent) <= max
  if (type === 'Boolean') return typeof sent === 'boolean'
  if (type === 'Select') return typeof sent === 'string' && options?.includes(sent) === true
  return typeof sent === 'string' && sent.trim() !== ''
}

/**
 * Whether every required field, under its condition, has a value. A role's own fields are checked only if the role is given.
 */
export function isComplete(fields: Fields, values: Values, role?: Role): boolean {
  return Object.entries(fields).every(([key, field]) => {
    if (!field.required || field.readonly || (field.role && field.role !== role)) return true
    return !countsNow(fields, key, values) || key in values || field.default !== undefined
  })
}

const countsNow = (fields: Fields, key: string, values: Values): boolean =>
  Object.entries(fields[key]?.when ?? {}).every(([other, wanted]) =>
    [wanted].flat().includes(String(values[other] ?? fields[other]?.default)),
  )

/** Whether a connection is ready for transfers: both sides are configured, with all required values. */
export function isReady(
  account: Account,
  connection: Pick<Connection, 'src' | 'dest' | 'srcOther' | 'destOther' | 'srcConfig' | 'destConfig'>,
): boolean {
  const { src, dest, srcOther, destOther, srcConfig, destConfig } = connection
  const side = (id: string, other: string | undefined, role: Role, config: Values) => {
    const connector = connectorById(id)
    const added = configurationOf(account.added.get(id), other)
    return (
      connector !== undefined &&
      added?.configured === true &&
      isComplete(connector.secrets, added.values, role) &&
      isComplete(sideFields(connector, role), config, role)
    )
  }
  // No sub-account of the model has purposes, so connections cannot require any.
  const requires = String(destConfig.purposes ?? '')
    .split(',')
    .map((name) => name.trim())
  return (
    requires.every((name) => name === '' || name.toLowerCase() === 'none') &&
    side(src, srcOther, 'Source', srcConfig) &&
    side(dest, destOther, 'Destination', destConfig)
  )
}
