import { keepAlives } from './liveness.ts'

/**
 * The settings of our sessions. A server, a database and a role can each set other defaults, which could make statements slow,
 * fail, or return other values. So every session sets what our statements rely on. The search path is not one of these
 * settings, because an operator can keep our tables in any schema.
 */

type Settings = Readonly<Record<string, string>>

/**
 * A claim makes the planner avoid whole tables, with costs so high that the server would compile it for seconds. This setting
 * is the first one, since a server can also be set to compile the statement with the others.
 */
const compiling: Settings = { jit: 'off' }

/** Values are spelled as the server shows them. A setting that the server does not know is skipped. */
const reliedOn: Settings = {
  plan_cache_mode: 'auto',
  // With parallel workers, a count would scan the connections of all tenants instead of its own by an index.
  max_parallel_workers_per_gather: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  // The texts that the driver parses, and the texts in backups, are in UTC.
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // The texts that the server reads.
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
}

/**
 * The defaults of the transactions of a session. If the database is set to read-only, it stays read-only: managed services do
 * that when the disk is nearly full.
 */
const transactionDefaults: Settings = {
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
}

/** A session has no limits except the limits of its caller. */
const unlimited: Settings = {
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
}

/** In kB, the default of PostgreSQL. With less, the server forgets which rows an index found, and reads whole pages. */
const workMemoryMin = 4096

/** Every setting that our statements rely on, with its value. */
export const neededSettings: Settings = { ...compiling, ...reliedOn, ...transactionDefaults }

type Limits = Readonly<Record<string, number>>

/**
 * The settings of a session, as one text of SQL. It also looks for its client, which has no effect over a Unix socket.
 * @param limits further settings, such as `statement_timeout`, in milliseconds
 * @param reads whether the client reads what comes without waiting for anyone else: then one that does not is gone
 */
export function sessionSettings(limits: Limits, { reads = true } = {}): string {
  const liveness = { ...keepAlives, ...(reads ? { tcp_user_timeout: '20000' } : {}) }
  const all = { ...reliedOn, ...transactionDefaults, ...unlimited, ...textsOf(limits), ...liveness }
  // A standby refuses to read in a serializable transaction, which can be the default until the settings are set.
  return [
    'set transaction isolation level read committed',
    'set jit = off',
    `select ${change(all, false)}`,
    // A lower value in the options of the address is deliberate.
    `select set_config(name, '${workMemoryMin}', false) from pg_settings
     where name = 'work_mem' and setting::int < ${workMemoryMin} and source <> 'client'`,
  ].join('; ')
}

/**
 * The settings of single transactions, for sessions that a pooler shares between clients. A limit of the session would reach
 * other clients, or nobody.
 * @param limits settings such as `statement_timeout`, in milliseconds
 */
export function transactionSettings(limits: Limits) {
  // The defaults apply to transactions that begin later, so that they stay in the session, as all our clients need them.
  const changes = [
    change({ ...reliedOn, ...textsOf(limits) }, true),
    change(transactionDefaults, false),
    `set_config('work_mem', '${workMemoryMin}', true) where pg_size_bytes(current_setting('work_mem')) < ${workMemoryMin * 1024}`,
  ]
  // `set local` warns outside of a block, and an error in a block would leave it open.
  const block = `do $$ begin set local jit = off; ${changes.map((one) => `perform ${one};`).join(' ')} end $$`
  return {
    begin: 'begin isolation level read committed',
    /** For after a `begin`, and for before a statement outside of a transaction, in the same message. */
    statement: block,
  }
}

const textsOf = (limits: Limits): Settings =>
  Object.fromEntries(Object.entries(limits).map(([name, ms]) => [name, `${Math.round(ms)}`]))

/** The part of a `select` that sets what differs. The names and the values are ours. */
function change(settings: Settings, local: boolean): string {
  const rows = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`)
  return `set_config(name, value, ${local}) from (values ${rows.join(', ')}) as needed (name, value)
    where current_setting(name, true) <> value`
}
