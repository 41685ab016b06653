import { createHash } from 'node:crypto'
import { ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'

/** A person by the identifiers that a file can hold. */
export type FilePerson = {
  readonly email?: string
  readonly phone?: string
  /** Advertising ID, not hashed. */
  readonly maid?: string
  readonly maidDigest?: string
}

/** A kind of file. Of one audience, all files are of the same kind. */
export type FileType = {
  readonly calculateType: string
  /** What the file says in its first line; absent where it has no such line. */
  readonly header?: string
  /** The line of a person; `undefined` where such a file cannot hold any of the identifiers. */
  readonly lineOf: (person: FilePerson) => string | undefined
}

const fileTypes: readonly FileType[] = [
  { calculateType: 'EMAIL_SHA256', lineOf: ({ email }) => email },
  { calculateType: 'PHONE_SHA256', lineOf: ({ phone }) => phone },
  // A digest of an advertising ID does not show of which kind of device it is.
  ...['MAID_SHA256', 'IDFA_SHA256', 'GAID_SHA256'].map((calculateType) => ({
    calculateType,
    lineOf: ({ maid, maidDigest }: FilePerson) => maidDigest ?? (maid === undefined ? undefined : sha256(maid)),
  })),
  {
    calculateType: 'MULTIPLE_TYPES',
    header: 'email_SHA256,phone_SHA256,MAID',
    lineOf: ({ email = '', phone = '', maid = '' }) =>
      email === '' && phone === '' && maid === '' ? undefined : `${email},${phone},${maid}`,
  },
]

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The kind of file that an audience takes, as TikTok calls it; `undefined` where it is none that can be made. */
export const fileTypeOf = (calculateType: string): FileType | undefined =>
  fileTypes.find((type) => type.calculateType === calculateType)

/** The kind of file for a new audience whose rows have these columns. */
export function fileTypeFor(columns: readonly string[]): FileType {
  const has = (...names: string[]) => names.some((name) => columns.includes(name))
  const kinds = [
    ...(has('email', 'email_sha256') ? ['EMAIL_SHA256'] : []),
    ...(has('phone', 'phone_sha256') ? ['PHONE_SHA256'] : []),
    ...(has('maid') ? ['MAID_SHA256'] : []),
  ]
  const [only = 'MAID_SHA256'] = kinds
  const type = fileTypeOf(kinds.length > 1 ? 'MULTIPLE_TYPES' : only)
  if (!type) throw new Error(`No file of the kind ${only} can be made`)
  return type
}

/** Uploads a file and resolves with the path by which audiences refer to it. */
export async function uploadFile(
  client: PlatformClient,
  advertiser: string,
  { calculateType, header }: FileType,
  lines: readonly string[],
): Promise<{ path: string; bytes: number }> {
  const content = `${[...(header === undefined ? [] : [header]), ...lines].join('\n')}\n`
  const signature = createHash('md5').update(content).digest('hex')
  const { json, bytesSent } = await client.askObject({
    path: '/dmp/custom_audience/file/upload/',
    method: 'POST',
    parts: [
      { name: 'advertiser_id', content: advertiser },
      { name: 'calculate_type', content: calculateType },
      { name: 'file_signature', content: signature },
      { name: 'file', content, fileName: `penstock-${signature}.csv`, type: 'text/csv' },
    ],
  })
  const path = textIn(objectIn(json.data).file_path)
  if (path !== undefined) return { path, bytes: bytesSent }
  throw new ConnectorError('malformed_response', 'TikTok did not return the path of the file.')
}
