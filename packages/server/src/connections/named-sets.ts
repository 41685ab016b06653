import type { FieldError } from '@penstock/wire'
import type { ActingAccount, Call } from '../call.ts'
import type { Db } from '../db/database.ts'
import type { Statement } from '../db/statement.ts'

/** Purposes and groups of a sub-account: connections name them, and a call replaces all of them. */

type Scope = { organizationId: string; accountId: string | null; accountIds: readonly string[] | null }
type Named = { name: string; connections: number }
type List<Row extends Named> = Statement<Scope & { size: number; offset: number }, Row>

/** A page of those of a sub-account, or of all that the actor can access. */
export async function pageOf<Row extends Named>(
  {
    db,
    actor,
    account,
    query,
  }: Pick<Call<'listPurposes' | 'listTransferGroups'>, 'db' | 'actor' | 'account' | 'query'>,
  list: List<Row>,
  count: Statement<Scope, { total: number }>,
): Promise<{ reply: Row[]; total: number }> {
  const { organizationId, accountIds } = actor
  const scope = { organizationId, accountId: account?.id ?? null, accountIds }
  const { size, offset } = query
  const [reply, counted] = await Promise.all([list.all(db, { ...scope, size, offset }), count.first(db, scope)])
  return { reply, total: counted?.total ?? 0 }
}

/** All of a sub-account. @param size how many it can have */
export const allOf = <Row extends Named>(
  db: Db,
  { id: accountId, organizationId }: ActingAccount,
  list: List<Row>,
  size: number,
): Promise<Row[]> => list.all(db, { organizationId, accountId, accountIds: null, size, offset: 0 })

/**
 * Errors of names that occur twice, and of names that are missing although connections have them.
 * @param things the plural of their name, which is the key of the body
 * @param whyNeeded what follows the name of a missing one
 */
export const setErrors = (
  names: readonly string[],
  before: readonly Named[],
  things: 'purposes' | 'groups',
  whyNeeded: (connections: number) => string,
): FieldError[] => [
  ...names.flatMap((name, index) =>
    names.indexOf(name) < index
      ? [{ field: `body.${things}.${index}.name`, message: `is the name of two ${things}` }]
      : [],
  ),
  ...before
    .filter(({ name, connections }) => connections > 0 && !names.includes(name))
    .map(({ name, connections }) => ({
      field: `body.${things}`,
      message: `lacks ${name}, which ${whyNeeded(connections)}`,
    })),
]
