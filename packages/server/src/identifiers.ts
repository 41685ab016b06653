import { randomBytes } from 'node:crypto'

/** A new identifier: 16 lowercase hexadecimal characters from a cryptographic source. */
export const newIdentifier = (): string => randomBytes(8).toString('hex')
