import { createHash } from 'node:crypto'
import { type JsonObject, textIn } from '../platform-api/json.ts'
import { isStreamed } from './audience-lists.ts'

/** A kind of file. Of one audience, all files are of the same kind. */
export type FileType = {
  readonly calculateType: string
  /** The first line of the file. Absent if it has no such line. */
  readonly header?: string
  /** The line of a person. `undefined` if such a file cannot contain any of the identifiers. */
  readonly lineOf: (person: JsonObject) => string | undefined
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const fileTypes: readonly FileType[] = [
  { calculateType: 'EMAIL_SHA256', lineOf: ({ email }) => textIn(email) },
  { calculateType: 'PHONE_SHA256', lineOf: ({ phone }) => textIn(phone) },
  // A digest of an advertising ID does not show of which kind of device it is.
  ...['MAID_SHA256', 'IDFA_SHA256', 'GAID_SHA256'].map((calculateType) => ({
    calculateType,
    lineOf: ({ maid, maid_sha256: digest }: JsonObject) =>
      textIn(digest) ?? (maid === undefined ? undefined : sha256(String(maid))),
  })),
  {
    calculateType: 'MULTIPLE_TYPES',
    header: 'email_SHA256,phone_SHA256,MAID',
    lineOf: ({ email = '', phone = '', maid = '' }) => {
      const line = [email, phone, maid].join()
      return line === ',,' ? undefined : line
    },
  },
]

const typeNamed = (name: unknown): FileType | undefined => fileTypes.find((type) => type.calculateType === name)

/** The kind of file that an audience accepts. `undefined` if this connector cannot create that kind. */
export const fileTypeOf = (audience: JsonObject): FileType | undefined =>
  isStreamed(audience) ? undefined : typeNamed(audience.calculate_type)

/** The kind of file for a new audience whose rows have these columns. */
export function fileTypeFor(columns: readonly string[]): FileType {
  const has = (...names: string[]) => names.some((name) => columns.includes(name))
  const kinds = [
    ...(has('email', 'email_sha256') ? ['EMAIL_SHA256'] : []),
    ...(has('phone', 'phone_sha256') ? ['PHONE_SHA256'] : []),
    ...(has('maid') ? ['MAID_SHA256'] : []),
  ]
  const [only = 'MAID_SHA256'] = kinds
  const type = typeNamed(kinds.length > 1 ? 'MULTIPLE_TYPES' : only)
  if (!type) throw new Error(`No file of the kind ${only} can be made`)
  return type
}
