import type { Blackout, ConnectionRule } from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { statement } from '../db/statement.ts'

/** Statements of the rules of connections. */

export const findRules = statement<
  { accountId: string; connectionId: string },
  { connectionId: string; rules: ConnectionRule[]; blackout: Blackout | null }
>(`
  select c.id as connection_id, coalesce(r.rules, '[]') as rules, r.blackout
  from connections c left join connection_rules r on r.connection_id = c.id
  where c.id = :connectionId and c.account_id = :accountId and not c.account_deleted and ${isKept('c')}
`)

export const putRules = statement<{ connectionId: string; rules: string; blackout: string | null }>(`
  insert into connection_rules (connection_id, rules, blackout) values (:connectionId, :rules, :blackout)
  on conflict (connection_id) do update set rules = excluded.rules, blackout = excluded.blackout
`)

export const deleteRules = statement<{ connectionId: string }>(`
  delete from connection_rules where connection_id = :connectionId
`)
