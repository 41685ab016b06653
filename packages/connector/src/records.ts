import type { ConsentUse, Digest, DigestEncoding, Normalisation } from '@penstock/wire/rules'

export { type Normalisation, normalisations } from '@penstock/wire/rules'

/** A column that a destination accepts, or a source provides. Its key is the platform's name. */
export type RecordField = {
  readonly description: string
  readonly required: boolean
  /** The form to which the engine normalises its values. Absent: values are sent unchanged. */
  readonly normalise?: Normalisation
  /** Other names of a source's column that match this field, in addition to its key and the well-known names of its form. */
  readonly synonyms?: readonly string[]
  /**
   * The value determines what is created or changed at the platform, such as an audience. A column fills the field only if it has
   * exactly its name, or by the mapping. It is never guessed.
   */
  readonly addresses?: boolean
  /**
   * The digests that the field accepts, if the value is sent hashed. The engine creates the first one, unless a value is already
   * a digest.
   */
  readonly hashed?: readonly Digest[]
  /** Encoding of its digests; absent for lower-case hexadecimal. A value that is already a digest can have either encoding. */
  readonly digestEncoding?: DigestEncoding
  /** At least one field of the same group must be filled in a row. */
  readonly oneOf?: string
  /** Fields of the same group are filled together or not at all. */
  readonly together?: string
  /** The field is only useful: an invalid value is omitted, and its row is delivered without it. */
  readonly leftOutIfUnusable?: boolean
  /** The only values it accepts. */
  readonly values?: readonly string[]
  /** Values, in lower case, with which a row removes a person from an audience and adds nobody. */
  readonly removing?: readonly string[]
  /** Its values are numbers or times, and the engine reads their local forms. */
  readonly reads?: 'number' | 'time'
  /**
   * The field tells the platform whether the person agreed to a use of the data. Purposes of the sub-account with this use fill
   * the field, unless the mapping does. Absent answers leave it empty.
   */
  readonly consent?: { readonly use: ConsentUse; readonly granted?: string; readonly denied?: string }
  /** Kinds of identifier that it can hold. */
  readonly identifiers?: readonly string[]
  /** Kind of a source's column. */
  readonly kind?: 'dimension' | 'metric' | 'column'
  /** How the platform types a source's column. */
  readonly type?: string
  /** The reports to which a source's column belongs; all reports by default. */
  readonly reports?: readonly string[]
}
export type Records = Readonly<Record<string, RecordField>>

/** A column of a record, optional by default. */
export const column = (options: Omit<RecordField, 'required'> & { required?: boolean }): RecordField => ({
  required: false,
  ...options,
})
