import type { ConnectionStatus } from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { statement } from '../db/statement.ts'

/** Statements of tags and owners. */

export type LabelsRow = {
  id: string
  accountId: string
  tags: string[]
  ownerId: string | null
  ownerName: string | null
  ownerEmail: string | null
}

/** The owner of the connection `c`, as `ownerColumns` read it. */
export const ownerTable = 'left join users u on u.id = c.owner_id'
export const ownerColumns = 'u.id as owner_id, u.name as owner_name, u.email as owner_email'
const labelColumns = `c.id, c.account_id, c.tags, ${ownerColumns}`

type Scope = { organizationId: string; accountId: string | null; accountIds: readonly string[] | null }
const inScope = `
  c.organization_id = :organizationId and not c.account_deleted and c.status <> 'deleted'
  and (:accountId::text is null or c.account_id = :accountId)
  and (:accountIds::text[] is null or c.account_id = any(:accountIds))`

type LabelFilter = Scope & { connectionIds: readonly string[] | null }
const labelled = `
  ${inScope} and (:connectionIds::text[] is null or c.id = any(:connectionIds))
  and (c.tag_keys <> '{}' or c.owner_id is not null)`
/** Planned for the actual values: connections of a page are found by their identifiers. */
const options = { plannedEachTime: true }

export const listLabels = statement<LabelFilter & { size: number; offset: number }, LabelsRow>(
  `
  select ${labelColumns} from connections c ${ownerTable} where ${labelled}
  order by c.id limit :size offset :offset`,
  options,
)
export const countLabels = statement<LabelFilter, { total: number }>(
  `select count(*) as total from connections c where ${labelled}`,
  options,
)

type TagFilter = Scope & { like: string | null }
const tagged = `
  from connections c cross join lateral unnest(c.tags, c.tag_keys) as t (tag, key)
  where ${inScope} and c.tag_keys <> '{}' and (:like::text is null or t.tag ilike :like)`
/** The newest connection decides the spelling. */
export const listTags = statement<
  TagFilter & { size: number; offset: number },
  { tag: string; connections: number; key: string }
>(
  `
  select (array_agg(t.tag order by c.created_time desc, c.id desc))[1] as tag, count(*) as connections, t.key ${tagged}
  group by t.key order by t.key limit :size offset :offset`,
  options,
)
export const countTags = statement<TagFilter, { total: number }>(
  `select count(distinct t.key) as total ${tagged}`,
  options,
)

export const findLabels = statement<{ accountId: string; id: string }, LabelsRow>(`
  select ${labelColumns} from connections c ${ownerTable}
  where c.id = :id and c.account_id = :accountId and not c.account_deleted and ${isKept('c')}
`)

export const lockLabels = statement<{ accountId: string; id: string }, { env: string; status: ConnectionStatus }>(`
  select env, status from connections c
  where id = :id and account_id = :accountId and not account_deleted and ${isKept('c')}
  for no key update
`)

/** A person who can own a connection: the person can see its sub-account, and the actor can see the person or is the person. */
export const findOwner = statement<
  {
    organizationId: string
    accountIds: readonly string[] | null
    actorId: string
    accountId: string
    email: string
  },
  { id: string }
>(`
  select id from users
  where organization_id = :organizationId and lower(email) = :email
    and (account_ids is null or :accountId = any(account_ids))
    and (:accountIds::text[] is null or account_ids <@ :accountIds or id = :actorId)
  order by created_time limit 1
`)

export const putLabels = statement<{
  id: string
  tags: readonly string[]
  tagKeys: readonly string[]
  ownerId: string | null
}>(`
  update connections set tags = :tags, tag_keys = :tagKeys, owner_id = :ownerId where id = :id
`)
