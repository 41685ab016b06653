import type { ConnectorContext, RawColumn, RawFormat } from '@penstock/connector'
import { inSession } from '../databases/sessions.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { passes } from './raw-write.ts'
import { openSession } from './session.ts'
import { columnsOf, nameOf } from './table.ts'

const boundMs = 15_000

/** Whether raw rows are written faster than values: text always, and the binary format if the table has the same types. */
export async function takesRaw(
  context: ConnectorContext,
  format: RawFormat,
  columns: readonly (RawColumn | undefined)[],
): Promise<boolean> {
  if (format === 'copy-text') return true
  if (columns.includes(undefined)) return false
  const session = await openSession(context, placeOf(context.secrets, 5432))
  const work = () => columnsOf(session, nameOf(writingOf(context.settings, 'public')))
  const found = await inSession(session, work, boundMs)
  return columns.every((column) => {
    const to = found.find(({ name }) => name === column?.name)
    return column && to ? passes(column, to, format) : false
  })
}
