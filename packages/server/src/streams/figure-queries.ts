import { statement } from '../db/statement.ts'
import { behindOf } from './behind.ts'

/** The connections that are furthest behind the stream that they read. It reads every connection of a stream, and no other. */
export const furthestBehind = statement<
  { limit: number },
  { connectionId: string; behindEvents: number; behindSeconds: number }
>(`
  select c.id as connection_id, b.events as behind_events, b.seconds as behind_seconds
  from streams s
    join connections c on c.account_id = s.account_id and c.live_src_connector_id = s.connector_id
      and c.live_src_configuration_id = s.id
    cross join lateral (${behindOf('c')}) b
  where b.events > 0 and c.status in ('active', 'broken', 'offline') and not c.account_deleted
  order by b.seconds desc, c.id limit :limit
`)
