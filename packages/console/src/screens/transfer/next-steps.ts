import type { Connection, ConnectionDetails, Transfer, TransferErrorCode } from '@penstock/wire'
import { configurationCodes } from '../../components/standing.ts'
import { transfer as say } from '../../strings/transfer.ts'
import { blamedSide } from './blame.ts'
import { pathOfConnection } from './paths.ts'

/** Actions of a user after an error of a transfer, by its code. */

type Remedy = 'configure' | 'settings' | 'mapping' | 'account' | 'start'
type Side = 'src' | 'dest'

const codesByRemedy: Readonly<Record<Remedy, readonly TransferErrorCode[]>> = {
  // The configuration of the connector is wrong, or does not suffice.
  configure: configurationCodes,
  // A resource that the connection names does not exist, or is of another kind.
  settings: [
    ...(['bucket_not_found', 'file_too_large', 'invalid_file', 'invalid_key', 'invalid_query'] as const),
    ...(['invalid_setting', 'key_not_unique', 'object_archived', 'object_not_found'] as const),
    ...(['response_too_large', 'source_changed', 'statement_failed', 'table_not_found', 'too_many_files'] as const),
  ],
  // The rows do not have what the destination takes.
  mapping: [
    ...(['batch_too_large', 'column_not_found', 'columns_do_not_fit', 'everything_refused'] as const),
    ...(['invalid_batch', 'nothing_accepted', 'request_refused', 'row_too_large', 'too_many_columns'] as const),
  ],
  account: ['account_disabled', 'account_deleted'],
  start: ['connection_not_active', 'nothing_to_replay', 'restored', 'run_time_exceeded', 'settings_changed'],
}
/** Transfers of earlier versions have other codes, which lead to a check of the side. */
const remedies: ReadonlyMap<string, Remedy> = new Map(
  Object.entries(codesByRemedy).flatMap(([remedy, codes]) =>
    codes.map((code): [string, Remedy] => [code, remedy as Remedy]),
  ),
)
/** Defects of ours: nothing that a connection says would change them. */
const defects: readonly string[] = ['connector_failed', 'internal', 'out_of_memory', 'runner_crashed']
/** Errors with a button of their own. */
const cured: readonly string[] = ['changes_lost']

/** A connection, with its configurations if they are known. */
type Failing = Connection & Partial<Pick<ConnectionDetails, 'srcConfigurationId' | 'destConfigurationId'>>

export type NextStep = { readonly label: string; readonly to: string }

/**
 * Actions for the error of a transfer, the most likely first. If an error belongs to neither side, actions for both are
 * offered.
 */
export function nextSteps({ error }: Pick<Transfer, 'error'>, connection: Failing): readonly NextStep[] {
  const remedy = error ? remedies.get(error.code) : undefined
  const bySide =
    error !== null && ![...defects, ...cured].includes(error.code) && (remedy === undefined || remedy === 'configure')
  const { accountId, id } = connection
  if (!error || connection.deleted) return []
  const of = { accountId, connectionId: id }
  const own = ownStep(error, connection)
  if (own) return [own]
  switch (remedy) {
    case 'account':
      return [{ label: say.next.account, to: '/accounts' }]
    case 'start':
      return [{ label: say.next.connection, to: pathOfConnection(of) }]
    default:
      return bySide ? sidesOf(connection, error).map((side) => ofSide(connection, side, remedy)) : []
  }
}

/** The page of the connection itself that repairs an error; undefined where what is wrong is not in its settings or mapping. */
export function ownStep(
  error: Transfer['error'] | undefined,
  { accountId, id }: Pick<Connection, 'accountId' | 'id'>,
): NextStep | undefined {
  const remedy = error ? remedies.get(error.code) : undefined
  if (remedy !== 'settings' && remedy !== 'mapping') return undefined
  const query = new URLSearchParams({ connection: id, step: remedy })
  return { label: say.next[remedy], to: `/accounts/${accountId}/connections/new?${query}` }
}

function sidesOf(connection: Connection, error: Transfer['error']): readonly Side[] {
  const blamed = blamedSide(connection, error)
  if (!blamed) return ['src', 'dest']
  return blamed === connection.src ? ['src'] : ['dest']
}

/** @param remedy undefined for what may pass, which a check finds out */
function ofSide(connection: Failing, side: Side, remedy: Remedy | undefined): NextStep {
  const words = remedy === 'configure' ? say.next.configure : say.next.check
  const configuration = connection[`${side}ConfigurationId`]
  const query = {
    [remedy === 'configure' ? 'configure' : 'check']: connection[side].connectorId,
    ...(configuration === undefined ? {} : { configuration }),
  }
  return {
    label: words[side],
    to: `/accounts/${connection.accountId}/connectors?${new URLSearchParams(query)}`,
  }
}
