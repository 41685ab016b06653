import { statement } from '../db/statement.ts'

/** The configuration of a connector with an identifier or a name. The identifier has priority. */
export const findRecord = statement<{ accountId: string; connectorId: string; name: string }, { id: string }>(`
  select id from configurations
  where account_id = :accountId and connector_id = :connectorId and (id = :name or name = :name)
  order by id = :name desc limit 1
`)

export const findName = statement<{ id: string }, { name: string }>(`
  select name from connections where id = :id
`)
