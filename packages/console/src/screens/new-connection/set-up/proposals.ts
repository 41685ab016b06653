import { type ConnectionConfig, uploadedFileConnectorId } from '@penstock/wire'
import { useEffect } from 'react'
import { useDiscovered } from '../../../api/queries.ts'
import { type Discovery, settingsOf } from '../../../components/fields/discovery.ts'
import type { FormField, FormValues } from '../../../components/fields/form-field.ts'
import { waysOf } from '../../connection/consequence.ts'
import { useWizard } from '../wizard.ts'

type Side = { readonly fields: readonly FormField[]; readonly values: FormValues }

/**
 * Proposes a table with the name of the file that was uploaded, which is created if it is missing, where the user has not
 * chosen one.
 * @param name the name that the connection got from the file; empty: none
 */
export function useProposedTable(name: string, { fields, values }: Side) {
  const { connectionId, sourceId, draft, keys, setValue } = useWizard()
  const takesTable = ['table', 'createTable'].every((one) => fields.some((field) => field.name === one))
  const isOpen = connectionId === '' && sourceId === uploadedFileConnectorId && takesTable
  const table = isOpen && draft.settings[keys.dest]?.table === undefined && !values.table ? tableNameOf(name) : ''
  const { dest } = keys
  useEffect(() => {
    if (table === '') return
    setValue(dest, 'table', table)
    setValue(dest, 'createTable', true)
  }, [table, dest, setValue])
}

/** A name that every database takes without quotes; empty if the text has no letter that fits. */
const tableNameOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^[\d_]+|_+$/g, '')
    .slice(0, tableNameMax)

/** The length that PostgreSQL takes. */
const tableNameMax = 60

const keyField = 'keyColumns'

/**
 * Proposes the key by which rows are updated: the primary key of the table that is written, or of the one that is read. It is set
 * while nobody has chosen a key.
 * @param discoveries how the columns of each side are listed
 */
export function useProposedKey(
  form: Readonly<Record<'src' | 'dest', Side>>,
  discoveries: Readonly<Record<'src' | 'dest', Discovery | undefined>>,
): void {
  const { draft, keys, setValue } = useWizard()
  const { dest } = keys
  const ways = waysOf(form.src, form.dest)
  const isOpen =
    ways !== undefined &&
    (ways.write === 'update' || ways.write === 'mirror') &&
    !form.dest.values[keyField] &&
    draft.settings[dest]?.[keyField] === undefined
  const written = usePrimaryKey(form.dest, discoveries.dest, isOpen)
  const read = usePrimaryKey(form.src, discoveries.src, isOpen && written === '')
  const key = written || read || ''
  useEffect(() => {
    if (isOpen && key !== '') setValue(dest, keyField, key)
  }, [isOpen, key, dest, setValue])
}

/** @returns undefined while it is not known; empty if there is none */
function usePrimaryKey(
  { fields, values }: Side,
  discovery: Discovery | undefined,
  isWanted: boolean,
): string | undefined {
  const settings: ConnectionConfig = settingsOf(fields, values)
  const enabled = isWanted && discovery?.fields.includes('columns') === true && Boolean(settings.table)
  const { accountId = '', connectorId = '', configurationId, role = 'Source' } = discovery ?? {}
  const { query, items } = useDiscovered(
    {
      accountId,
      id: connectorId,
      ...(configurationId === undefined ? {} : { query: { configurationId } }),
      body: { field: 'columns', role, settings },
    },
    { enabled },
  )
  if (!enabled || query.isError) return ''
  if (!query.isSuccess) return undefined
  return items
    .filter(({ key }) => key === true)
    .map(({ value }) => value)
    .join(', ')
}
