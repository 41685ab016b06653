/**
 * The type that its source declares for every value of a column. Values stay cells on their way: a column of this type has no
 * other texts. `text` holds every value.
 */
export type ColumnType =
  | {
      readonly kind:
        | 'smallint'
        | 'integer'
        | 'bigint'
        | 'double'
        | 'boolean'
        | 'date'
        | 'json'
        | 'uuid'
        | 'text'
        /** `\x` and hexadecimal digits. */
        | 'bytes'
    }
  /** A time without or with a zone. `digits` are the fractional digits of its second, 6 if absent. */
  | { readonly kind: 'timestamp' | 'instant'; readonly digits?: 3 | 6 | 9 }
  /** Without a precision: any number. */
  | { readonly kind: 'decimal'; readonly precision?: number; readonly scale?: number }
  /** Lists as JSON text, in which items can be null. */
  | { readonly kind: 'list'; readonly items: ColumnType | null }
  /** Objects as JSON text, with no other fields. Fields can be null or missing. */
  | { readonly kind: 'struct'; readonly fields: readonly StructField[] }

/** A field of a struct, and its type; `null` if it is text. */
export type StructField = { readonly name: string; readonly type: ColumnType | null }

/** Whether cells of a type are JSON text of any form. */
export const isJsonType = (type: ColumnType | null | undefined): boolean =>
  type?.kind === 'json' || type?.kind === 'list' || type?.kind === 'struct'
