import { createHash } from 'node:crypto'
import type { DataType, DataTypeCategory, PlatformType, Role, SupportedType } from '@penstock/wire'
import type { Fields } from './fields.ts'
import type { Records } from './records.ts'

/** A company’s product that connectors talk to. */
export type Platform = {
  /** Stable, lowercase, hyphenated; the identifier derives from it. */
  readonly slug: string
  readonly name: string
  readonly type: PlatformType
  /** The brand's slug in simple-icons; absent where it has none, and a monogram is drawn. */
  readonly icon?: string
}

/** What a platform can be asked to do with records, in its own words. */
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

/** One role of a connector: what a connection must say of this end, and the records that pass. */
export type End = {
  /** Settings that each connection makes for itself. */
  readonly fields?: Fields
  readonly records?: Records
}

/** A connector as its author writes it. Catalogue row, form, validation and documents derive from it. */
export type ConnectorDefinition = {
  /** Stable for ever: the identifier derives from it. */
  readonly slug: string
  readonly name: string
  readonly platform: Platform
  readonly dataType: DataType
  readonly dataTypeCategory: DataTypeCategory
  /** One or two sentences: what it does, for whom. */
  readonly description: string
  /** `preview` where the facts about the platform are thin; `withdrawn` once nobody should add it any more. */
  readonly status?: 'available' | 'preview' | 'withdrawn'
  readonly actions?: readonly Action[]
  /** What to know before use: quotas, delays, arrangements. */
  readonly notes?: string
  /** What a sub-account saves once for all its connections. Every secret is a `secret` field. */
  readonly secrets: Fields
  /** Present where the connector can be a source. */
  readonly source?: End
  /** Present where the connector can be a destination. */
  readonly destination?: End
}

/** A connector of the catalogue: its definition and what follows from it. */
export type Connector = ConnectorDefinition & {
  /** First 16 hexadecimal characters of SHA-256 over `connector:<slug>`: the same in every deployment. */
  readonly id: string
  readonly platformId: string
  readonly roles: readonly Role[]
  readonly supportedType: SupportedType
}

/**
 * Makes a connector from its definition. Fails at once, as a programmer's error, on a definition that breaks a rule
 * which the types cannot express: a role is missing, a condition names no field, a default is not an option,
 * a field that sounds secret is not a `secret`.
 */
export function defineConnector(definition: ConnectorDefinition): Connector {
  const roles: Role[] = []
  if (definition.source) roles.push('Source')
  if (definition.destination) roles.push('Destination')
  if (roles.length === 0) throw new Error(`${definition.slug}: a connector needs a source or a destination`)
  assertFields(definition.slug, definition.secrets)
  for (const { fields = {} } of [definition.source ?? {}, definition.destination ?? {}]) {
    assertFields(definition.slug, fields)
    const secret = Object.keys(fields).find((key) => fields[key]?.type === 'Password')
    if (secret)
      throw new Error(`${definition.slug}: ${secret} is a secret, which no connection can keep; move it to secrets`)
  }
  return Object.freeze({
    ...definition,
    id: catalogueId('connector', definition.slug),
    platformId: catalogueId('platform', definition.platform.slug),
    roles,
    supportedType: roles.join(', ') as SupportedType,
  })
}

/** Names a platform; an identity function that checks the type. */
export const definePlatform = (platform: Platform): Platform => Object.freeze(platform)

/** The identifier of a thing of the catalogue: the same everywhere, from its slug alone. */
export function catalogueId(kind: 'connector' | 'platform', slug: string): string {
  return createHash('sha256').update(`${kind}:${slug}`).digest('hex').slice(0, 16)
}

const soundsSecret = /secret|password|privatekey|token$|apikey|accesskey$|jsonkey|sasurl/i

function assertFields(slug: string, fields: Fields): void {
  for (const [key, field] of Object.entries(fields)) {
    const wrong = (why: string) => new Error(`${slug}: field ${key} ${why}`)
    if (soundsSecret.test(key) && field.type !== 'Password') throw wrong('sounds secret and must be a secret field')
    const choices = field.options
    if (field.type.endsWith('Select') && !choices?.length) throw wrong('needs options')
    for (const choice of field.default === undefined ? [] : [field.default].flat()) {
      if (choices && !choices.includes(String(choice))) throw wrong(`has a default that is not an option: ${choice}`)
    }
    for (const [other, values] of Object.entries(field.when ?? {})) {
      const options = fields[other]?.options
      if (!options) throw wrong(`depends on ${other}, which is no choice of the same group`)
      for (const value of [values].flat()) {
        if (!options.includes(value)) throw wrong(`depends on ${other} being ${value}, which is no option of it`)
      }
    }
  }
}
