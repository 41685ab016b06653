import type { Database, Transaction } from '../db/database.ts'
import { refuseFieldErrors } from '../refusal.ts'
import { errorOfPassword, hasSameSalt, type Passwords } from './passwords.ts'
import * as queries from './queries.ts'

/** Refuses with `invalid_request` a new password that is too short or too common. */
export function requireGoodPassword(
  field: string,
  password: string,
  person: { email: string; organizationName: string },
): void {
  const message = errorOfPassword(password, person)
  refuseFieldErrors(message === undefined ? [] : [{ field, message }])
}

/**
 * Makes the digest of a new password, and does `work` with it in one transaction. The digest is made before that: no
 * connection waits for it. It has the salt that the other digests of the e-mail address have.
 */
export async function withPasswordDigest<T>(
  database: Database,
  passwords: Passwords,
  { email, password, address }: { email: string; password: string; address: string },
  work: (tx: Transaction, passwordDigest: string) => Promise<T>,
): Promise<T> {
  for (;;) {
    const like = await queries.findDigestOfAddress.first(database, { email })
    const digest = await passwords.digest(password, like?.passwordDigest ?? undefined, address)
    const done = await database.transaction(async (tx) => {
      await queries.lockAddress.run(tx, { email })
      const present = await queries.findDigestOfAddress.first(tx, { email })
      if (present?.passwordDigest && !hasSameSalt(present.passwordDigest, digest)) return undefined
      return { result: await work(tx, digest) }
    })
    if (done) return done.result
  }
}
