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
  /** A time without, or with, its zone. `digits` behind its second, 6 if absent. */
  | { readonly kind: 'timestamp' | 'instant'; readonly digits?: 3 | 6 | 9 }
  /** Without a precision: any number. */
  | { readonly kind: 'decimal'; readonly precision?: number; readonly scale?: number }
