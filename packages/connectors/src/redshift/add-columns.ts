import { type AdditionContext, type ColumnType, ConnectorError } from '@penstock/connector'
import { readDeclaredType } from '../databases/declared-types.ts'
import { inSession } from '../databases/sessions.ts'
import { placeOf } from '../databases/settings.ts'
import { quoteName } from './cells.ts'
import { defaultPort, openRedshift, runEach } from './session.ts'
import { findTable, nameOf, targetOf } from './table.ts'
import { textBytesMax } from './target-columns.ts'

const boundMs = 120_000
const nameBytesMax = 127
const precisionMax = 38
const scaleMax = 37

/** Adds the columns that the table lacks, all or none. They are nullable, so that existing rows are not rewritten. */
export async function addColumns(context: AdditionContext): Promise<void> {
  const { added } = context
  const target = targetOf(context.settings)
  const tooLong = added.find((column) => Buffer.byteLength(column.name) > nameBytesMax)
  if (tooLong) {
    const message = `Redshift has no column names of more than ${nameBytesMax} bytes, as ${tooLong.name.slice(0, 200)} is.`
    throw new ConnectorError('columns_do_not_fit', message)
  }
  const session = await openRedshift(context, placeOf(context.secrets, defaultPort))
  const add = async () => {
    const there = await findTable(session, target)
    if (added.length === 0 || !there) return
    const name = nameOf(there)
    // Redshift adds one column at a time, and knows no IF NOT EXISTS: the lock keeps another worker from adding the same.
    await runEach(session, ['begin', `lock table ${name}`])
    const found = await findTable(session, there)
    const known = new Set(found?.columns.map((column) => column.name.toLowerCase()))
    for (const column of added) {
      if (known.has(column.name.toLowerCase())) continue
      known.add(column.name.toLowerCase())
      await runEach(session, [
        `alter table ${name} add column ${quoteName(column.name)} ${typeOf(readDeclaredType(column.type))}`,
      ])
    }
    await runEach(session, ['commit'])
  }
  return inSession(session, add, boundMs)
}

function typeOf(type: ColumnType): string {
  switch (type.kind) {
    case 'decimal': {
      const { precision, scale = 0 } = type
      const isKnown =
        precision !== undefined && precision > 0 && precision <= precisionMax && scale <= Math.min(precision, scaleMax)
      // Without a precision, Redshift would keep whole numbers of 18 digits.
      return isKnown ? `decimal(${precision}, ${scale})` : 'decimal(38, 9)'
    }
    case 'double':
      return 'double precision'
    case 'instant':
      return 'timestamptz'
    case 'json':
      return 'super'
    case 'bytes':
      return 'varbyte(64000)'
    case 'uuid':
      return 'varchar(36)'
    case 'text':
      return `varchar(${textBytesMax})`
    default:
      return type.kind
  }
}
