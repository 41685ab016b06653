import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import type { Static } from '../type.ts'
import { count, exactly, identifier, text, unixSeconds } from './kinds.ts'

/** Files that people upload, as a source of connections. Not in the specification. */

/** Slashes, control characters, and characters that change the direction in which a name is shown: none of these. */
const refused = '/\\\\\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff'

/** Pattern of the name of an uploaded file: a name and not a path, and not blank. */
export const uploadNamePattern = `^(?!\\.{1,2}$)(?=.*\\S)[^${refused}]{1,${limits.uploadNameLengthMax}}$`

/** An uploaded file. */
export const Upload = exactly(
  {
    id: identifier('the uploaded file', example.uploadId),
    accountId: identifier('the sub-account', example.accountId),
    name: text('Name of the file', example.uploadName),
    sizeBytes: count('Size of the file, in bytes', 48_213),
    createdTime: unixSeconds('When it was uploaded', example.createdTime),
    expiresTime: unixSeconds('When it is deleted'),
  },
  { description: 'Uploaded file' },
)
export type Upload = Static<typeof Upload>
