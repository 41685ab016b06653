import type { AdditionContext } from '@penstock/connector'
import { readDeclaredType } from '../databases/declared-types.ts'
import { inSession } from '../databases/sessions.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { quoteName } from './plan.ts'
import { openSession } from './session.ts'
import { missingColumns } from './table.ts'
import { typeOf } from './type-names.ts'

const boundMs = 90_000

/** Adds the columns that the table lacks. MySQL has no "if not exists" for a column, so that they are looked up first. */
export async function addColumns(context: AdditionContext): Promise<void> {
  const { table } = writingOf(context.settings, '')
  const names = context.added.map(({ name }) => name)
  const session = await openSession(context, placeOf(context.secrets, 3306))
  const add = async () => {
    const missing = await missingColumns(session, table, names)
    const parts = context.added
      .filter(({ name }) => missing.includes(name))
      .map(({ name, type }) => `add column ${quoteName(name)} ${typeOf(readDeclaredType(type))} null`)
    if (parts.length === 0) return
    await session.run('set session lock_wait_timeout = 30')
    try {
      await session.run(`alter table ${quoteName(table)} ${parts.join(', ')}`)
    } catch (error) {
      // Another worker may have added them meanwhile.
      if (!session.alive || (await missingColumns(session, table, names)).length > 0) throw error
    }
  }
  return inSession(session, add, boundMs)
}
