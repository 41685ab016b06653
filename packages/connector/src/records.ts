import type { Digest, DigestEncoding, Normalisation } from '@penstock/wire/rules'

export { type Normalisation, normalisations } from '@penstock/wire/rules'

/** A column that a destination accepts, or a source provides. Its key is the platform's name. */
export type RecordField = {
  readonly description: string
  readonly required: boolean
  /** The form of its values; the engine brings them into it. Absent: the value is sent as it is. */
  readonly normalise?: Normalisation
  /** Other names by which a source's column is taken for this one, besides its key and the well-known ones of its form. */
  readonly synonyms?: readonly string[]
  /** The digests it accepts, where the value travels hashed; the engine makes the first, unless a value is one already. */
  readonly hashed?: readonly Digest[]
  /** How its digests are written; absent for lower-case hexadecimal. A value that is a digest already may come in either. */
  readonly digestEncoding?: DigestEncoding
  /** At least one field of the same group must be filled in a row. */
  readonly oneOf?: string
  /** Fields of the same group are filled together or not at all. */
  readonly together?: string
  /** It only helps: a value that cannot be used is left out, and its row is delivered without it. */
  readonly leftOutIfUnusable?: boolean
  /** The only values it accepts. */
  readonly values?: readonly string[]
  /** Its values are numbers, or times: the engine reads the local forms of them. */
  readonly reads?: 'number' | 'time'
  /** Kinds of identifier that it can hold. */
  readonly identifiers?: readonly string[]
  /** Kind of a source's column. */
  readonly kind?: 'dimension' | 'metric' | 'column'
  /** How the platform types a source's column. */
  readonly type?: string
  /** The reports that a source's column belongs to; all of them if none is named. */
  readonly reports?: readonly string[]
}
export type Records = Readonly<Record<string, RecordField>>

/** A column of a record, optional unless said otherwise. */
export const column = (options: Omit<RecordField, 'required'> & { required?: boolean }): RecordField => ({
  required: false,
  ...options,
})
