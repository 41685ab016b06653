/**
 * Times after which the session of a process ends that stopped without ending, so that its locks are released. Examples are a
 * process that sleeps in a transaction, and a machine that stops without closing its connections. Both sides of a connection
 * check whether the other one is alive.
 */

/** For the driver: when it begins to look whether a server that says nothing is there. Otherwise it would be after hours. */
export const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const

/** Default limit on how long a transaction can wait for its process. */
export const idleTransactionMsDefault = 10_000

/**
 * How long a transaction can wait for its process before the server ends the session. The limit ensures that it has ended
 * before other processes take over its work.
 * @param heartbeatTimeoutSeconds how long a worker without heartbeats is treated as alive
 */
export const idleTransactionMs = ({ heartbeatTimeoutSeconds }: { readonly heartbeatTimeoutSeconds: number }): number =>
  Math.min(idleTransactionMsDefault, heartbeatTimeoutSeconds * 1000)

/** The server checks after ten seconds whether the client is alive, and gives up after ten more. */
export const keepAlives = { tcp_keepalives_idle: '10', tcp_keepalives_interval: '5', tcp_keepalives_count: '2' }
