import {
  boolean,
  type Connector,
  type Discover,
  type Fields,
  type InspectionContext,
  text,
  type Values,
  writeMode,
} from '@penstock/connector'
import { windowKeys } from '../../databases/fields.ts'

/** The definition of a destination in a warehouse: pure data, that loads the code of the folder when it is called. */

type Deliver = NonNullable<NonNullable<Connector['destination']>['deliver']>

/**
 * The modes of writing.
 * @param keys describes the key columns, if they do more than identify a row
 * @param isRequired whether a connection must name the mode; otherwise the default is to append
 */
export const writeFields = ({
  keys = 'Columns that identify a row, separated by commas',
  isRequired = false,
}: {
  readonly keys?: string
  readonly isRequired?: boolean
} = {}): Fields => ({
  writeMode: writeMode(['Append', 'Replace', 'Upsert'], {
    description: 'Add rows, replace the content of the table, or replace rows with the same key',
    isRequired,
  }),
  keyColumns: text({
    purpose: 'key',
    label: 'Key columns',
    description: keys,
    required: true,
    when: { writeMode: 'Upsert' },
  }),
})

export const createTable: Fields = {
  createTable: boolean({
    asked: true,
    keepsState: 'onward',
    label: 'Create table',
    description: 'Create the table if it is missing, with text columns',
    default: false,
  }),
}

/** @param files which files the platform loads, and how */
export const loadFiles = (platform: string, files: string): Fields => ({
  loadFiles: boolean({
    keepsState: 'transport',
    label: `Load files inside ${platform}`,
    description: `${platform} loads CSV and Parquet files directly from ${files}. Rows still pass through Penstock if it must process them, such as for hashing`,
    default: false,
  }),
})

/** The code of a folder that writes. */
type WriteCode = Pick<Deliver, 'open'> & Required<Pick<Deliver, 'inspect' | 'tryRows'>>

/**
 * How rows are delivered: in batches of up to 16 MiB, with upserts, removals and windows by the key columns.
 * @param code the module that writes @param own what differs
 */
export const warehouseDelivery = (
  rowsMax: number,
  code: () => Promise<WriteCode>,
  own: Partial<Deliver> = {},
): Deliver => ({
  batch: () => ({ rowsMax, bytesMax: 16 << 20 }),
  windowKeys,
  removesBy: windowKeys,
  replaces: (settings) => settings.writeMode === 'Replace',
  open: async (context) => (await code()).open(context),
  inspect: async (context: InspectionContext) => (await code()).inspect(context),
  tryRows: async (context: InspectionContext) => (await code()).tryRows(context),
  ...own,
})

type Loads = NonNullable<Deliver['loads']>

/** How the warehouse loads files itself, if the connection asks for it. @param code the module that loads */
export const warehouseLoads = (
  facts: Pick<Loads, 'schemes' | 'whyNot' | 'whyNotFile'>,
  code: () => Promise<{ readonly whyNotTable: Loads['whyNotTable']; readonly openLoader: Loads['open'] }>,
): Loads => ({
  ...facts,
  isWanted: (settings: Values) => settings.loadFiles === true,
  whyNotTable: async (context) => (await code()).whyNotTable(context),
  open: async (context) => (await code()).openLoader(context),
})

/** Lists of a folder's module, each loaded when it is requested. */
export const listsOf = <Lists extends Readonly<Record<Key, Discover>>, Key extends string>(
  code: () => Promise<Lists>,
  names: Readonly<Record<string, Key>>,
): Record<string, Discover> =>
  Object.fromEntries(
    Object.entries(names).map(([field, name]) => [field, async (context) => (await code())[name](context)]),
  )
