/**
 * The form into which the engine brings a value before it hashes or sends it. Each trims, and yields nothing for what
 * cannot be brought into the form:
 * email               lower case
 * email-gmail         the same, and without dots and `+…` before @gmail.com and @googlemail.com
 * email-gmail-dots    the same, and without dots there
 * email-plain-local   lower case, without `+…` before any @
 * phone-e164          `+` and 7 to 15 digits
 * phone-digits        the same without `+`
 * name                lower case, without punctuation and digits
 * city, state         lower case, without spaces and punctuation
 * postal-code         lower case, without spaces and what follows a hyphen
 * country             two letters of ISO 3166, lower case
 * birth-date          YYYYMMDD
 * gender              `m` or `f`
 * device-id           lower case
 * lower               lower case
 * text                as it is
 */
export const normalisations = [
  'email',
  'email-gmail',
  'email-gmail-dots',
  'email-plain-local',
  'phone-e164',
  'phone-digits',
  'name',
  'city',
  'state',
  'postal-code',
  'country',
  'birth-date',
  'gender',
  'device-id',
  'lower',
  'text',
] as const
export type Normalisation = (typeof normalisations)[number]

/** A column that a destination takes, or a source gives. What a platform calls it is its key. */
export type RecordField = {
  readonly description: string
  readonly required: boolean
  /** The form of its values; the engine sees to it. Absent: the value goes as it is. */
  readonly normalise?: Normalisation
  /** Other names by which a source's column is taken for this one, besides its key and the well-known ones of its form. */
  readonly synonyms?: readonly string[]
  /** The digests it accepts, where the value travels hashed; the engine makes the first, unless a value is one already. */
  readonly hashed?: readonly ('sha256' | 'sha512' | 'md5')[]
  /** At least one field of the same group must be filled in a row. */
  readonly oneOf?: string
  /** Fields of the same group are filled together or not at all. */
  readonly together?: string
  /** The only values it accepts. */
  readonly values?: readonly string[]
  /** Kinds of identifier that it can hold. */
  readonly identifiers?: readonly string[]
  /** What a source's column is. */
  readonly kind?: 'dimension' | 'metric' | 'column'
  /** How the platform types a source's column. */
  readonly type?: string
  /** The reports that a source's column belongs to; all of them where none is named. */
  readonly reports?: readonly string[]
}
export type Records = Readonly<Record<string, RecordField>>

/** A column of a record, optional unless said otherwise. */
export const column = (options: Omit<RecordField, 'required'> & { required?: boolean }): RecordField => ({
  required: false,
  ...options,
})
