import { refuse } from '../refusal.ts'

/** What a write demands of the resource as it is now (RFC 9110, If-Match); checked by the rule, under its lock. */
export type Precondition = {
  /** Refuses with `precondition_failed` unless this is a version that the caller named. */
  check(etag: string): void
}

/** The header form of a version. */
export const quoteEtag = (etag: string) => `"${etag}"`

/**
 * Reads an If-Match header. `*` and an absent header demand nothing: a missing resource is refused anyway.
 * Weak tags never match, as the RFC has it.
 */
export function readPrecondition(header: string | undefined): Precondition {
  if (header === undefined || header.trim() === '*') return { check: () => {} }
  const named = header.split(',').map((tag) => tag.trim())
  return {
    check: (etag) => {
      if (!named.includes(quoteEtag(etag))) {
        refuse('precondition_failed', [
          { field: 'header.if-match', message: `is not the current ETag, ${quoteEtag(etag)}` },
        ])
      }
    },
  }
}
