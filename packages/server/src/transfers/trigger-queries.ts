import { statement } from '../db/statement.ts'

/** Statements of triggers: addresses that start transfers. */

export type TriggerRow = {
  id: string
  connectionId: string
  name: string
  signed: boolean
  createdTime: Date
  lastUsedTime: Date | null
}
const columns = `t.id, t.connection_id, t.name, t.signing_secret_sealed is not null as signed, t.created_time, t.last_used_time`

export const listTriggers = statement<{ connectionId: string; size: number; offset: number }, TriggerRow>(`
  select ${columns} from triggers t where t.connection_id = :connectionId
  order by t.created_time desc, t.id desc limit :size offset :offset
`)
export const countTriggers = statement<{ connectionId: string }, { total: number }>(`
  select count(*) as total from triggers where connection_id = :connectionId
`)

export const insertTrigger = statement<
  {
    id: string
    organizationId: string
    accountId: string
    connectionId: string
    name: string
    secretDigest: Buffer
    dataKeyId: string | null
    signingSecretSealed: Buffer | null
  },
  TriggerRow
>(`
  insert into triggers as t
    (id, organization_id, account_id, connection_id, name, secret_digest, data_key_id, signing_secret_sealed)
  values
    (:id, :organizationId, :accountId, :connectionId, :name, :secretDigest, :dataKeyId, :signingSecretSealed)
  returning ${columns}
`)

export const deleteTrigger = statement<{ accountId: string; id: string }, TriggerRow>(`
  delete from triggers t where t.id = :id and t.account_id = :accountId returning ${columns}
`)

/** A trigger as a request to its address finds it. */
export type UsedTriggerRow = {
  id: string
  organizationId: string
  accountId: string
  connectionId: string
  name: string
  secretDigest: Buffer
  dataKeyId: string | null
  signingSecretSealed: Buffer | null
}
export const findTrigger = statement<{ id: string }, UsedTriggerRow>(`
  select id, organization_id, account_id, connection_id, name, secret_digest, data_key_id, signing_secret_sealed
  from triggers where id = :id
`)

/** Notes the use. No row if the trigger was deleted since. */
export const useTrigger = statement<{ id: string }, { id: string }>(`
  update triggers set last_used_time = now() where id = :id returning id
`)
