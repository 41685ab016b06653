import { type ConnectionConfig, limits, receivesEvents, uploadedFileConnectorId } from '@penstock/wire'
import { useEffect, useRef } from 'react'
import { useDiscovered, useRead } from '../../../api/queries.ts'
import { type Discovery, settingsOf } from '../../../components/fields/discovery.ts'
import { countingFields, type FormField, type FormValues } from '../../../components/fields/form-field.ts'
import { keyField, waysOf } from '../../connection/consequence.ts'
import { useWizard } from '../wizard.ts'
import { areManyTables } from './table-names.ts'

type Side = { readonly fields: readonly FormField[]; readonly values: FormValues }

/**
 * Proposes a table with the name of the file that was uploaded, of the stream of events, or of the table that is read, which is
 * created if it is missing, if the user has not chosen one.
 * Many tables keep their names.
 * @param names the name that the connection got from the file, or nothing; and the name of the source
 * @param source the settings of the source, with the table that is read
 * @param isSame whether both sides use one configuration, so that the table that is read must not be written
 */
export function useProposedTable(
  names: { connection: string; source: string },
  source: FormValues,
  { fields, values }: Side,
  isSame: boolean,
) {
  const { connectionId, sourceId, draft, keys, setValue } = useWizard()
  const takesTable = ['table', 'createTable'].every((one) => fields.some((field) => field.name === one))
  const isStream = receivesEvents(sourceId)
  const isFile = sourceId === uploadedFileConnectorId
  const read = areManyTables(source)
    ? '{table}'
    : tableNameOf(
        String(source.table ?? '')
          .split('.')
          .at(-1) ?? '',
      )
  const given = isStream ? names.source : isFile ? names.connection : undefined
  const name = given === undefined ? (isSame && read ? `${read}_copy` : read) : tableNameOf(given)
  const isOpen = connectionId === '' && takesTable
  const table = isOpen && draft.settings[keys.dest]?.table === undefined && !values.table ? name : ''
  const { dest } = keys
  useEffect(() => {
    if (table === '') return
    setValue(dest, 'table', table)
    setValue(dest, 'createTable', true)
  }, [table, dest, setValue])
}

/** Proposes the file to read if only one is uploaded, while nobody has chosen one. @param onPick called with its identifier and name */
export function useProposedUpload({ values }: Side, onPick: (upload: { id: string; name: string }) => void): void {
  const { accountId, sourceId, draft, keys } = useWizard()
  const isOpen =
    sourceId === uploadedFileConnectorId && !values.upload && draft.settings[keys.src]?.upload === undefined
  const uploads = useRead('listUploads', { accountId, query: { size: 2 } }, { enabled: isOpen })
  const [only, ...others] = uploads.data?.reply ?? []
  const picked = useRef(onPick)
  picked.current = onPick
  const found = isOpen && others.length === 0 ? only : undefined
  useEffect(() => {
    if (found) picked.current(found)
  }, [found])
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
  const name = keyField(form.dest)?.name
  const isOpen =
    name !== undefined &&
    (ways?.write === 'update' || ways?.write === 'mirror') &&
    !form.dest.values[name] &&
    draft.settings[dest]?.[name] === undefined
  const written = usePrimaryKey(form.dest, discoveries.dest, isOpen)
  const read = usePrimaryKey(form.src, discoveries.src, isOpen && written === '')
  const key = areManyTables(form.src.values) ? '{key}' : written || read || ''
  useEffect(() => {
    if (isOpen && key !== '') setValue(dest, name, key)
  }, [isOpen, name, key, dest, setValue])
}

/** Names of columns with the time of the last change, as many applications call them. */
const changeNames = /^(?:last_?)?(?:updated|modified|changed|modification|update|change)_?(?:at|on|time|date|ts)?$/i
const timeTypes = /timestamp|datetime/i

/** Proposes a column with the time of the last change as the cursor of the source, while nobody has chosen one. */
export function useProposedCursor({ fields, values }: Side, discovery: Discovery | undefined): void {
  const { draft, keys, setValue } = useWizard()
  const { src } = keys
  const isAsked = countingFields(fields, values).some(({ name }) => name === cursorField)
  const isOpen = isAsked && !values[cursorField] && draft.settings[src]?.[cursorField] === undefined
  const columns = useColumns({ fields, values }, discovery, isOpen)
  const found = columns?.find(({ value, type }) => changeNames.test(value) && timeTypes.test(type ?? ''))?.value
  useEffect(() => {
    if (isOpen && found !== undefined) setValue(src, cursorField, found)
  }, [isOpen, found, src, setValue])
}
const cursorField = 'markerColumn'

/** The estimate of the rows of the table that is read, if the source has one; undefined if it is not known. */
export function useRowEstimate({ fields, values }: Side, discovery: Discovery | undefined, isWanted: boolean) {
  const { table: asked, ...all } = settingsOf(fields, values)
  const table = String(asked ?? '')
  // Only settings that are picked from a list, such as a schema, say which tables there are.
  const settings = Object.fromEntries(Object.entries(all).filter(([name]) => discovery?.fields.includes(name)))
  const enabled = isWanted && discovery?.fields.includes('table') === true && table !== ''
  const { accountId = '', connectorId = '', configurationId, role = 'Source' } = discovery ?? {}
  const { items } = useDiscovered(
    {
      accountId,
      id: connectorId,
      ...(configurationId === undefined ? {} : { query: { configurationId } }),
      body: { field: 'table', role, settings, q: table.slice(0, limits.discoverySearchLengthMax) },
    },
    { enabled },
  )
  const n = enabled ? items.find(({ value }) => value === table)?.rows : undefined
  return n === undefined || n === null ? undefined : { n, isEstimate: true }
}

/** @returns undefined while it is not known; empty if there is none */
const usePrimaryKey = (side: Side, discovery: Discovery | undefined, isWanted: boolean): string | undefined =>
  useColumns(side, discovery, isWanted)
    ?.filter(({ key }) => key === true)
    .map(({ value }) => value)
    .join(', ')

/** The columns of the table of a side; undefined while they are not known, and none if they cannot be listed. */
function useColumns({ fields, values }: Side, discovery: Discovery | undefined, isWanted: boolean) {
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
  if (!enabled || query.isError) return []
  return query.isSuccess ? items : undefined
}
