/** One line of `penstock doctor`. The message of a warning begins with `warning: `. */
export type Check = { readonly name: string; readonly ok: boolean; readonly message: string }

/** The result of a check: well, a warning, or a problem. Messages contain no secrets. */
export type Finding = Omit<Check, 'name'>

export const well = (message: string): Finding => ({ ok: true, message })
export const warning = (message: string): Finding => ({ ok: true, message: `warning: ${message}` })
export const problem = (message: string): Finding => ({ ok: false, message })

/** Time limit of one check, in milliseconds. */
const checkMs = 10_000

/** Runs a check, which fails if it exceeds its time limit. Never rejects. */
export async function bounded(name: string, work: () => Promise<Finding>, timeoutMs = checkMs): Promise<Check> {
  const late = Promise.withResolvers<Finding>()
  const timer = setTimeout(
    () => late.resolve(problem(`The check did not end within ${timeoutMs / 1000} seconds. Run penstock doctor again.`)),
    timeoutMs,
  )
  try {
    return { name, ...(await Promise.race([work(), late.promise])) }
  } catch (error) {
    const { code, name: kind } = error as { code?: unknown; name?: unknown }
    return { name, ...problem(`The check failed (${code ?? kind}). Run penstock doctor again.`) }
  } finally {
    clearTimeout(timer)
  }
}
