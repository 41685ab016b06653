import type { Connection, Transfer } from '@penstock/wire'
import { run as say } from '../../strings/run.ts'
import { blamedSide } from './blame.ts'
import { pathOfConnection } from './paths.ts'

/** What a person can do after an error of a transfer, by its code. */

type Remedy = 'configure' | 'settings' | 'mapping' | 'account' | 'start'
type Side = 'src' | 'dest'

const codesByRemedy: Readonly<Record<Remedy, string>> = {
  // What the connector was configured with is wrong, or does not suffice.
  configure: `access_denied account_mismatch account_not_found address_not_allowed authentication_not_supported
    billing_not_enabled certificate_not_trusted clock_off credentials_in_address database_not_found declaration_required
    endpoint_failed endpoint_moved endpoint_not_found expired_credentials host_key_unconfirmed host_name_needed
    host_not_found insecure_redirect invalid_address invalid_ca_certificate invalid_credentials invalid_endpoint
    invalid_private_key invalid_region invalid_signing_secret no_answer no_common_algorithm no_mysql no_sftp no_ssh
    password_expired path_not_allowed permission_denied read_only sign_in_not_supported strange_host_key
    terms_not_accepted tls_failed tls_not_supported warehouse_not_usable wrong_region`,
  // What the connection names is not there, or is something else.
  settings: `audience_deleted audience_flagged audience_not_updated bucket_not_found bytes_limit_exceeded columns_differ
    container_not_found endless_listing file_damaged file_too_large invalid_path invalid_query invalid_setting
    invalid_timezone key_not_unique key_too_long key_unfit list_locked list_not_found list_not_owned marker_unfit
    membership_too_long no_header no_transactions not_found not_strict not_text object_archived object_not_found
    query_failed resources_exceeded result_too_large schema_not_found setting_missing source_changed table_not_found
    too_many_files too_much unfit_character unfit_name unknown_encoding upload_blocked web_page wrong_list_type`,
  // The rows do not have what the destination takes.
  mapping: `bad_header batch_too_large column_is_generated column_not_found columns_do_not_fit columns_not_distinct
    everything_refused invalid_batch invalid_value key_missing message_refused nothing_accepted request_refused
    row_too_large too_many_columns`,
  account: 'account_disabled account_deleted',
  start: 'connection_not_active nothing_to_replay restored run_time_exceeded',
}
const remedies: ReadonlyMap<string, Remedy> = new Map(
  Object.entries(codesByRemedy).flatMap(([remedy, codes]) =>
    codes.split(/\s+/).map((code): [string, Remedy] => [code, remedy as Remedy]),
  ),
)
/** Defects of ours: nothing that a connection says would change them. */
const defects: readonly string[] = ['connector_failed', 'internal', 'out_of_memory', 'runner_crashed']

export type NextStep = { readonly label: string; readonly to: string }

/** What to do about the error of a transfer, the most likely first. Where an error is of neither side, both are offered. */
export function nextSteps({ error }: Transfer, connection: Connection): readonly NextStep[] {
  const remedy = error ? remedies.get(error.code) : undefined
  const bySide = error !== null && !defects.includes(error.code) && (remedy === undefined || remedy === 'configure')
  const { accountId, id } = connection
  if (!error || connection.deleted) return []
  const of = { accountId, connectionId: id }
  const step = (name: 'settings' | 'mapping') =>
    `/accounts/${accountId}/connections/new?${new URLSearchParams({ connection: id, step: name })}`
  switch (remedy) {
    case 'settings':
      return [{ label: say.next.settings, to: step('settings') }]
    case 'mapping':
      return [{ label: say.next.mapping, to: step('mapping') }]
    case 'account':
      return [{ label: say.next.account, to: '/accounts' }]
    case 'start':
      return [{ label: say.next.connection, to: pathOfConnection(of) }]
    default:
      return bySide ? sidesOf(connection, error).map((side) => ofSide(connection, side, remedy)) : []
  }
}

function sidesOf(connection: Connection, error: Transfer['error']): readonly Side[] {
  const blamed = blamedSide(connection, error)
  if (!blamed) return ['src', 'dest']
  return blamed === connection.src ? ['src'] : ['dest']
}

/** @param remedy undefined for what may pass, which a check finds out */
function ofSide(connection: Connection, side: Side, remedy: Remedy | undefined): NextStep {
  const words = remedy === 'configure' ? say.next.configure : say.next.check
  const query = { [remedy === 'configure' ? 'configure' : 'check']: connection[side].connectorId }
  return {
    label: words[side],
    to: `/accounts/${connection.accountId}/connectors?${new URLSearchParams(query)}`,
  }
}
