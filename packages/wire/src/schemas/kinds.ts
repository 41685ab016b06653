import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type TSchema, Type } from '../type.ts'

/** Building blocks of schemas: the kinds of values in the specification. */

/** An object with exactly these keys. */
export const exactly = <P extends Record<string, TSchema>>(
  properties: P,
  about: { description: string; examples?: readonly unknown[] },
) => Type.Object(properties, { additionalProperties: false, ...about })

/** 16 lowercase hexadecimal characters. */
export const identifierPattern = '^[0-9a-f]{16}$'
export const Identifier = Type.String({
  pattern: identifierPattern,
  description: 'Identifier: 16 lowercase hexadecimal characters',
  examples: [example.accountId],
})
/** The identifier of something. */
export const identifier = (of: string, example: string) =>
  Type.String({
    pattern: identifierPattern,
    description: `Identifier of ${of}: 16 lowercase hexadecimal characters`,
    examples: [example],
  })

/** Identifier of one view of values, chosen by the caller. */
export const viewId = Type.Optional(
  Type.String({
    pattern: identifierPattern,
    description:
      'Shows whole values instead of masks. You choose the identifier: 16 lowercase hexadecimal characters. The audit log records one event for all calls with the same identifier within an hour',
    examples: ['5d41402abc4b2a76'],
  }),
)

/** One of a closed set of texts. */
export const oneOf = <const V extends readonly string[]>(
  values: V,
  about: { description: string; examples: string[] },
) => Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...about })

export const count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] })
export const unixSeconds = (description: string, timestamp: number = example.updatedTime) =>
  Type.Integer({ minimum: 0, description: `${description}, Unix time in seconds`, examples: [timestamp] })
export const flag = (description: string, example = true) => Type.Boolean({ description, examples: [example] })
export const text = (description: string, example: string) => Type.String({ description, examples: [example] })

/** A secret: it is never logged, nor kept in the audit log. */
export const secret = (description: string, example: string, options: Record<string, unknown> = {}) =>
  Type.String({ format: 'password', ...options, description, examples: [example] })

/** The control characters, spelt out: not every reader of the OpenAPI document knows `\p{Cc}` in a pattern. */
const control = '\\u0000-\\u001f\\u007f-\\u009f'

/** Pattern of a text that has 1 to `lengthMax` characters once trimmed, and no control characters. */
export const trimmed = (lengthMax: number) =>
  `^\\s*[^${control}\\s](?:[^${control}]{0,${lengthMax - 2}}[^${control}\\s])?\\s*$`

/** A host in an address: a name or an IP address. */
const host = `(?:[^${control}\\s/?#@:<>\\[\\]^|%\\\\*;,"']+|\\[[0-9A-Fa-f:.]+\\])`
/** A host of this machine, at which a page can be developed without TLS. */
const ownHost = '(?:(?:[A-Za-z0-9-]+\\.)*localhost|127\\.[0-9]+\\.[0-9]+\\.[0-9]+|\\[::1\\])'
const port = '(?::[0-9]{0,5})?'
const https = '[hH][tT][tT][pP][sS]://'
const http = '[hH][tT][tT][pP]://'
const webHost = `(?:${https}|${http})${host}${port}`
const pageHost = `(?:${https}${host}|${http}${ownHost})${port}`

/**
 * Patterns of addresses, as far as a pattern can express which addresses the service accepts. They exclude user names and
 * passwords. Patterns cannot express whether the operator allows http for a host, and the reader of addresses refuses some more
 * hosts.
 */
export const addressPatterns = {
  /** Requests are sent there: no fragment. */
  receiver: `^\\s*${webHost}(?:[/?][^#${control}]*)?\\s*$`,
  /** The same, or the mask of a secret. */
  secretReceiver: `^(?:\\*{8}|\\s*${webHost}(?:[/?][^#${control}]*)?\\s*)$`,
  /** An identity provider: neither query nor fragment. */
  issuer: `^${webHost}(?:/[^?#${control}\\s]*)?$`,
  /** Browsers go there: https, or http on this machine. */
  page: `^${pageHost}(?:[/?#][^${control}]*)?$`,
  /** Pages come from there. */
  origin: `^${pageHost}/?$`,
}

/** Pattern of a name for people: no control characters, and not blank. Names are trimmed before they are stored. */
export const namePattern = trimmed(limits.nameLengthMax)
/** A name that people read. */
export const name = (example: string) =>
  Type.String({
    pattern: namePattern,
    description: 'Name, 1 to 200 characters after trimming, no control characters',
    examples: [example],
  })
export const Name = name('Spring customers')

/** Values of several resources. */
export const editable = flag('Whether it can be changed in this environment')
export const env = text('Name of the environment in which it was created', 'production')
export const etag = (of: string) => text(`The version of the ${of}, for If-Match`, '"1"')
export const configured = flag('Whether the connector has been configured in the sub-account')

/**
 * Values of a configuration as a caller sends them. The definition of the connector determines the accepted keys and types.
 * `null` clears a value. `lengthMax` limits the characters of one text value.
 */
export const configuration = (lengthMax: number, description: string, example: Record<string, unknown>) =>
  Type.Record(
    Type.String({ pattern: `^[A-Za-z0-9_]{1,${limits.fieldKeyLengthMax}}$` }),
    Type.Union([
      Type.String({ maxLength: lengthMax }),
      Type.Number(),
      Type.Boolean(),
      Type.Null(),
      Type.Array(Type.String({ maxLength: lengthMax }), { maxItems: limits.selectedOptionsMax }),
    ]),
    {
      additionalProperties: false,
      maxProperties: limits.configurationFieldsMax,
      description,
      examples: [example],
    },
  )

/** Names of tables of a connection that moves many tables. */
export const tableNames = (maxItems: number, description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: limits.tableNameLengthMax, examples: ['shop.orders'] }), {
    minItems: 1,
    maxItems,
    uniqueItems: true,
    description,
  })
