import { type AdditionContext, ConnectorError } from '@penstock/connector'
import pg from 'pg'
import { readDeclaredType } from '../databases/declared-types.ts'
import { inSession } from '../databases/sessions.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { openSession } from './session.ts'
import { hasTable, nameBytesMax, nameOf } from './table.ts'
import { typeOf } from './type-names.ts'

const { escapeIdentifier } = pg

/** More than the server's own bounds, which say more about what happened. */
const boundMs = 90_000

const begin = ['begin', "set local lock_timeout = '30s'", "set local statement_timeout = '60s'"]

/** Adds the columns that the table lacks, all or none. They may be empty, so that existing rows are not written again. */
export async function addColumns(context: AdditionContext): Promise<void> {
  const { added } = context
  const name = nameOf(writingOf(context.settings, 'public'))
  const tooLong = added.find((column) => Buffer.byteLength(column.name) > nameBytesMax)
  if (tooLong) {
    const message = `PostgreSQL has no column names of more than ${nameBytesMax} bytes, as ${tooLong.name} is.`
    throw new ConnectorError('columns_do_not_fit', message)
  }
  const session = await openSession(context, placeOf(context.secrets, 5432))
  const add = async () => {
    if (added.length === 0 || !(await hasTable(session, name))) return
    const parts = added.map(
      (column) => `add column if not exists ${escapeIdentifier(column.name)} ${typeOf(readDeclaredType(column.type))}`,
    )
    await session.execute([...begin, `alter table ${name} ${parts.join(', ')}`, 'commit'])
  }
  return inSession(session, add, boundMs)
}
