import { statement } from '../../db/statement.ts'

/** Statements of the probes of offline connections. */

export const scheduleProbe = statement<{ connectionId: string; inSeconds: number }>(`
  insert into probes (connection_id, next_time) values (:connectionId, now() + make_interval(secs => :inSeconds))
  on conflict (connection_id) do update set attempts = 0, next_time = excluded.next_time
`)

export type ProbeRow = {
  connectionId: string
  accountId: string
  srcConnectorId: string
  destConnectorId: string
  srcConfigurationId: string
  destConfigurationId: string
}
/** Probes that are due, each put off already, ever longer: a worker that dies while it probes is no hindrance. */
export const takeProbes = statement<{ limit: number; mostSeconds: number }, ProbeRow>(`
  update probes p set
    attempts = attempts + 1, next_time = now() + make_interval(secs => least(:mostSeconds::int, 60 * 2 ^ least(attempts, 10)))
  from connections c
  where c.id = p.connection_id and p.connection_id in (
    select d.connection_id from probes d join connections o on o.id = d.connection_id
    where d.next_time <= now() and o.status = 'offline'
    order by d.next_time limit :limit for update of d skip locked
  )
  returning p.connection_id, c.account_id, c.src_connector_id, c.dest_connector_id,
    c.src_configuration_id, c.dest_configuration_id
`)
export const dropProbe = statement<{ connectionId: string }>(`delete from probes where connection_id = :connectionId`)
