/**
 * Settings that end the session of a process that stopped without ending, and release its locks. Examples are a process
 * that sleeps in a transaction, and a machine that stops without closing its connections. Both sides of a connection
 * check whether the other one is alive.
 */

/** For the driver: when it begins to look whether a server that says nothing is there. Otherwise it would be after hours. */
export const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const

/** How long a transaction may wait for its process at most, unless a caller has another bound. */
export const idleTransactionMsDefault = 10_000

/**
 * How long a transaction may wait for its process before the server ends the session: not longer than it takes until
 * others may take over what the process did.
 * @param heartbeatTimeoutSeconds how long a worker that sends no heartbeat counts as alive
 */
export const idleTransactionMs = ({ heartbeatTimeoutSeconds }: { readonly heartbeatTimeoutSeconds: number }): number =>
  Math.min(idleTransactionMsDefault, heartbeatTimeoutSeconds * 1000)

/** The server looks whether the client is there: after ten seconds, and gives up after ten more. */
const keepAlives = ['tcp_keepalives_idle = 10', 'tcp_keepalives_interval = 5', 'tcp_keepalives_count = 2']

/**
 * Limits of single transactions, for sessions that a pooler shares between clients: a setting of the session would reach other
 * clients, or none.
 * @param limits settings such as `statement_timeout`, in milliseconds
 * @returns statements for after a `begin`, and those for before a statement outside of one, in the same message
 */
export function transactionLimits(limits: Readonly<Record<string, number>>) {
  const entries = Object.entries(limits).map(([name, ms]) => [name, Math.round(ms)] as const)
  const sets = entries.map(([name, ms]) => `perform set_config('${name}', '${ms}', true);`)
  return {
    ofTransaction: entries.map(([name, ms]) => `set local ${name} = ${ms}`),
    // `set local` warns outside of a block, and an error in a block would leave it open.
    ofStatement: [`do $$ begin ${sets.join(' ')} end $$`],
  }
}

/**
 * The settings of a session that looks for its client, as one text of SQL. Over a Unix socket they have no effect.
 * @param limits further settings, such as `statement_timeout`, in milliseconds
 * @param reads whether the client reads what comes without waiting for anyone else: then one that does not is gone
 */
export function sessionSettings(limits: Readonly<Record<string, number>>, { reads = true } = {}): string {
  const settings = Object.entries(limits).map(([name, ms]) => `${name} = ${Math.round(ms)}`)
  return [...settings, ...keepAlives, ...(reads ? ['tcp_user_timeout = 20000'] : [])]
    .map((setting) => `set ${setting}`)
    .join('; ')
}
