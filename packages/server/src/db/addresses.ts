/**
 * The address of a database that can move between servers, as after a failover: one text with a list of hosts,
 * `postgres://user:password@db1,db2:5433/penstock`, as libpq reads it. New connections go to the server that last accepted
 * writes. If it no longer does, the next server of the list is tried.
 */

/** A connection string, or a function that returns the present one. The function is called for each new connection. */
export type DatabaseUrl = string | (() => string)

/** The server that each list leads to, as far as this process knows. */
const present = new Map<string, number>()

const textOf = (url: DatabaseUrl): string => (typeof url === 'string' ? url : url())

/** The addresses of the single servers of a list. An address with one host returns one address. */
export function splitAddress(text: string): readonly [string, ...string[]] {
  const [, start = '', hosts = '', end = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s.exec(text) ?? []
  const [first, ...others] = hosts.split(',').map((host) => `${start}${host.trim()}${end}`)
  return others.length === 0 || first === undefined ? [text] : [first, ...others]
}

/** The connection string at present, of one server. */
export function currentUrl(url: DatabaseUrl): string {
  const text = textOf(url)
  const servers = splitAddress(text)
  return servers[(present.get(text) ?? 0) % servers.length] ?? text
}

/** How many servers the address has. */
export const countServers = (url: DatabaseUrl): number => splitAddress(textOf(url)).length

/** A connection could not be made: the next one is made to the next server, unless another connection has moved on already. */
export function passOver(url: DatabaseUrl, used: string): void {
  const text = textOf(url)
  if (currentUrl(url) === used) present.set(text, (present.get(text) ?? 0) + 1)
}

/** SQL that fails on a standby, as a write does, if the address has several servers. Empty if it has one. */
export const refuseStandby = (url: DatabaseUrl): string =>
  countServers(url) < 2
    ? ''
    : `do $$ begin if pg_is_in_recovery() then
        raise exception 'This server is a standby' using errcode = 'read_only_sql_transaction';
      end if; end $$`
