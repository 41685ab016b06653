import { createHash } from 'node:crypto'

/** How often something of one name can be created within the time for which the service stores keys. */
export const generationsMax = 50

/**
 * The idempotency key under which something is created: the same for the same thing in every run, so that one that was killed,
 * and one beside it, create it once.
 * @param generation counts on where the answer of the key before is about one that is gone
 */
export const creationKey = (kind: string, accountId: string, name: string, generation: number): string =>
  `penstock-apply-${createHash('sha256')
    .update(JSON.stringify([kind, accountId, name, generation]))
    .digest('hex')}`
