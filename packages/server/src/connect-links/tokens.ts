import { hash, randomBytes } from 'node:crypto'

/** The token of a link and the token of its page: 256 random bits each, stored only as a digest. */

export const newToken = (kind: 'link' | 'page'): string =>
  `${kind === 'link' ? linkPrefix : pagePrefix}${randomBytes(32).toString('base64url')}`
export const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer')

/** The prefix identifies the kind of token, also for scanners that search for leaked secrets. */
const linkPrefix = 'psl_'
const pagePrefix = 'psp_'
export const isPageToken = (token: string): boolean => token.startsWith(pagePrefix)
