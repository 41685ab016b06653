import type { TransferErrorCode } from '@penstock/wire'
import type { SecretManagers } from './secret-managers.ts'

/** Codes of a refused sign-in, which a secret that was rotated in its manager causes. */
const refusedSignIn: ReadonlySet<TransferErrorCode> = new Set(['invalid_credentials', 'expired_credentials'])

/** The secret managers of one job, which remember whether a secret came from the memory of this process. */
export type WatchedManagers = SecretManagers & {
  /**
   * Forgets these secrets if a platform refused the sign-in.
   * @returns whether there were any, so that the job can succeed if it is repeated
   */
  forgetRefused(code: TransferErrorCode): boolean
}

/** Watches which secrets a job gets. */
export function watchManagers(managers: SecretManagers): WatchedManagers {
  const forgets: (() => void)[] = []
  return {
    ...managers,
    read: (reference, tenant, fresh) => managers.read(reference, tenant, fresh, (forget) => void forgets.push(forget)),
    forgetRefused(code) {
      if (!refusedSignIn.has(code)) return false
      const all = forgets.splice(0)
      for (const forget of all) forget()
      return all.length > 0
    },
  }
}

/**
 * Runs a job, and once more if a platform refuses the sign-in with a secret that this process knew: it may have been rotated.
 * @param codeOf the error of a result, if it has one
 */
export async function withPresentSecrets<T>(
  managers: SecretManagers,
  run: (managers: SecretManagers) => Promise<T>,
  codeOf: (result: T) => TransferErrorCode | undefined,
): Promise<T> {
  const watched = watchManagers(managers)
  const result = await run(watched)
  const code = codeOf(result)
  return code !== undefined && watched.forgetRefused(code) ? run(managers) : result
}
