import type { ColumnType } from '@penstock/connector'

/** A column of a stream: the location of its value in a Shopify object, and its type. */
export type StreamColumn = {
  readonly name: string
  /** The path of keys: `defaultEmailAddress.emailAddress`. */
  readonly at: string
  readonly type: ColumnType | null
  /** The fields of an object, or of the objects of a list, that is a value as a whole, as JSON. */
  readonly fields?: readonly string[]
  /** The arguments of the field at the path. */
  readonly arguments?: string
  /** The value is the quantity with this name, of the list of quantities at the path. */
  readonly quantity?: string
}

/** The objects that a transfer reads: objects of a connection of the API, or of a connection below each of these. */
export type Stream = {
  /** The field of the query. */
  readonly root: string
  /**
   * If the stream reads child objects, the field of each object that contains them. It can be a path such as
   * `codeDiscount.codes`.
   */
  readonly child?: string
  /** A field with objects of several types. Each type is asked for its fields. `''` means the object itself. */
  readonly union?: { readonly at: string; readonly types: readonly string[] }
  /** The column with the ID of the object above. */
  readonly parent?: string
  /** The access scopes that it needs. */
  readonly scopes: string
  /**
   * Whether changed objects can be requested by the time of their change, or only by its day. Absent if Shopify cannot report
   * changes.
   */
  readonly changes?: 'time' | 'day'
  /** The time of the change in a filter. By default `updated_at`. */
  readonly changedAt?: string
  /** A condition of every query of the stream. */
  readonly filter?: string
  readonly columns: readonly StreamColumn[]
}

const typed =
  (type: ColumnType | null) =>
  (name: string, at: string): StreamColumn => ({ name, at, type })

/** Any text, such as an ID. */
export const text = typed(null)
/** A decimal number as text, with all of its digits. */
export const decimal = typed({ kind: 'decimal' })
export const whole = typed({ kind: 'bigint' })
export const double = typed({ kind: 'double' })
export const flag = typed({ kind: 'boolean' })
export const instant = typed({ kind: 'instant' })

/** An amount in the currency of the shop. @param at the field of type `MoneyBag` */
export const money = (name: string, at: string): StreamColumn => decimal(name, `${at}.shopMoney.amount`)

/** A list, or objects with some fields, as JSON. */
export const json = (name: string, at: string, fields?: readonly string[]): StreamColumn => ({
  name,
  at,
  type: { kind: 'json' },
  ...(fields && { fields }),
})

/** Keys and values that a shop adds itself. */
export const attributes = json('custom_attributes', 'customAttributes', ['key', 'value'])

/** The parts of an address. @param prefix of the columns: `shipping_` */
export const address = (prefix: string, at: string): readonly StreamColumn[] =>
  (
    [
      ['first_name', 'firstName'],
      ['last_name', 'lastName'],
      ['company', 'company'],
      ['address1', 'address1'],
      ['address2', 'address2'],
      ['city', 'city'],
      ['province_code', 'provinceCode'],
      ['country_code', 'countryCodeV2'],
      ['zip', 'zip'],
      ['phone', 'phone'],
    ] as const
  ).map(([name, key]) => text(`${prefix}${name}`, `${at}.${key}`))

export const quantities = (...names: readonly string[]): readonly StreamColumn[] =>
  names.map((quantity) => ({
    name: quantity,
    at: 'quantities',
    type: { kind: 'bigint' },
    fields: ['name', 'quantity'],
    arguments: `(names: ${JSON.stringify(names)})`,
    quantity,
  }))
