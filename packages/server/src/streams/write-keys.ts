import { hash, randomBytes } from 'node:crypto'

/** Write keys of streams: 192 random bits, stored only as a digest. They can only send events to one stream. */

/** The prefix identifies the kind of key, also for scanners that search for leaked secrets. */
const prefix = 'pwk_'
const hintLength = 4

export const newWriteKey = (): string => prefix + randomBytes(24).toString('base64url')

/** SHA-256 of a key. */
export const digestOfWriteKey = (key: string): Buffer => hash('sha256', key, 'buffer')

/** The end of a key, to recognise it. */
export const hintOf = (key: string): string => key.slice(-hintLength)

/** Whether a text has the form of a write key. The database is asked only for texts of this form. */
export const isWriteKey = (text: string): boolean => /^pwk_[\w-]{32}$/.test(text)
