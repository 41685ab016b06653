import { createHash } from 'node:crypto'

/** The SHA-256 of a text in UTF-8, as 64 lowercase hexadecimal digits: how the platforms want identifiers of people. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
