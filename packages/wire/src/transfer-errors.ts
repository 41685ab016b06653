import type { ErrorAction, TransferErrorDefinition } from './error-actions.ts'
import { secretErrors } from './secret-errors.ts'
import { tableErrors } from './table-errors.ts'

/**
 * Every error of a transfer, a preview or a check. Connectors throw a `ConnectorError` with a code of this table, and the
 * effect depends only on its action (`decide`). The errors for callers of the API are in `errors.ts`.
 */
export const transferErrors = {
  rate_limited: {
    action: 'retry',
    when: 'The platform limits the rate of requests, or has blocked the account temporarily.',
    todo: 'Wait, run fewer transfers at the same time, or ask the platform for a higher limit.',
  },
  platform_error: {
    action: 'retry',
    when: 'The platform or the server reports an internal error.',
    todo: 'Look at the status page or the log of the platform, then start the transfer again.',
  },
  platform_unavailable: {
    action: 'retry',
    when: 'The platform, the server or the disk is temporarily unavailable: it is starting or stopping, or has no connections, memory or space left.',
    todo: 'Check the server and its resources, then start the transfer again.',
  },
  connection_lost: {
    action: 'retry',
    when: 'A network connection was interrupted, or its data arrived damaged.',
    todo: 'Check the network and its proxies, then start the transfer again.',
  },
  timeout: {
    action: 'retry',
    when: 'The other side accepted the connection but did not answer in time.',
    todo: 'Find out why the other side is slow, then start the transfer again.',
  },
  statement_timeout: {
    action: 'retry',
    when: 'A database statement exceeded its timeout, or the database cancelled it.',
    todo: 'Raise the statement timeout, or read less in one statement.',
  },
  conflict: {
    action: 'retry',
    when: 'The request conflicted with another one: a lock, a deadlock or a rollback.',
    todo: 'If it persists, find out what else changes the same data at that time.',
  },
  malformed_response: {
    action: 'retry',
    when: 'A response cannot be read: it is truncated, is not JSON or XML, or lacks a required part.',
    todo: 'Check that the address belongs to the platform and that no proxy changes its responses.',
  },
  result_expired: {
    action: 'retry',
    when: 'A data warehouse no longer keeps the result that was being read. The statement runs again.',
    todo: 'Nothing. If it persists, read less in one statement.',
  },
  writers_running: {
    action: 'retry',
    when: 'Transactions have been writing to the source table for longer than the configured lag, so their rows could be missed.',
    todo: 'End these transactions, or raise the lag.',
  },
  connector_failed: {
    action: 'retry',
    when: 'The connector failed with an unknown error. The transfer retries up to three times.',
    todo: 'Start the transfer again; if it persists, report the identifier of the transfer to your operator.',
  },
  connector_missing: {
    action: 'reassign',
    when: 'No machine that tried the transfer has the connector or its program, or can load it. An operator adds these to each machine.',
    todo: 'Ask your operator to add the connector on every machine, or to restore its folder. The connection continues on its own then.',
  },
  unreachable: {
    action: 'reconnect',
    when: 'Nothing answers at the address.',
    todo: 'Check the address and the port. Make sure that the server is running and accepts connections from this service. If you cannot edit the address, check the DNS, the proxy and the firewall of this service.',
  },
  host_not_found: {
    action: 'reconnect',
    when: 'The host name cannot be resolved.',
    todo: 'Check the spelling of the host name, and that DNS has it. If you cannot edit the address, check the DNS, the proxy and the firewall of this service.',
  },
  wrong_protocol: {
    action: 'reconnect',
    when: 'The server does not use the expected protocol, such as TLS, SSH or the protocol of the database.',
    todo: 'Check the address and the port. If you cannot edit the address, check the proxy and the firewall of this service.',
  },
  invalid_batch: {
    action: 'split',
    when: 'The destination refused a batch because of its content, and did not say which row is the cause.',
    todo: 'Nothing. Penstock finds the row and rejects it with the reason.',
  },
  batch_too_large: {
    action: 'split',
    when: 'The destination refused a batch because it is too large.',
    todo: 'Nothing. If single rows are too large, make them smaller.',
  },
  invalid_credentials: {
    action: 'reauthenticate',
    when: 'The platform does not accept the credentials, or they are malformed.',
    todo: 'Authorize the connector again, or save valid credentials in it, then activate the connection.',
  },
  expired_credentials: {
    action: 'reauthenticate',
    when: 'The credentials have expired.',
    todo: 'Authorize the connector again, or renew them on the platform and save them in it, then activate the connection.',
  },
  permission_denied: {
    action: 'reconfigure',
    when: 'The credentials are valid, but lack a permission.',
    todo: 'Grant the permission that the message names, then activate the connection.',
  },
  invalid_setting: {
    action: 'reconfigure',
    when: 'A setting of the connector or the connection is missing, or its value is not valid for the platform or the connector.',
    todo: 'Correct the setting that the message names, then activate the connection.',
  },
  invalid_address: {
    action: 'reconfigure',
    when: 'A URL, host, path or region in the settings is invalid, or leads somewhere else.',
    todo: 'Correct the address, then activate the connection.',
  },
  address_not_allowed: {
    action: 'reconfigure',
    when: 'The network policy of this deployment does not allow the address.',
    todo: 'Use another address, or ask your operator to allow it in PENSTOCK_EGRESS_ALLOW.',
  },
  insecure_address: {
    action: 'reconfigure',
    when: 'Secrets would be sent over http:// to a host for which this is not allowed.',
    todo: 'Use https://, or ask your operator to allow the host in PENSTOCK_ALLOW_HTTP.',
  },
  path_not_allowed: {
    action: 'reconfigure',
    when: 'A path is outside of the folders that the operator allows.',
    todo: 'Use a path inside them, or ask your operator to allow the folder.',
  },
  certificate_not_trusted: {
    action: 'reconfigure',
    when: 'The TLS certificate of the server has expired, is for another host, or was issued by an authority that is not trusted.',
    todo: 'Renew the certificate, or save the certificate of its authority in the connector.',
  },
  host_key_not_trusted: {
    action: 'reconfigure',
    when: 'The SSH host key is not the expected one, or none is configured yet.',
    todo: 'Ask the operator of the server for the fingerprint and save it in the connector.',
  },
  not_supported: {
    action: 'reconfigure',
    when: 'The server or table lacks something that the connector or its settings need: encryption, a kind of authentication, SFTP, transactions.',
    todo: 'Change the server or the settings as the message says, then activate the connection.',
  },
  object_not_found: {
    action: 'reconfigure',
    when: 'An object that a setting names does not exist on the platform, or is not visible to these credentials: a file, folder, list, audience, warehouse or endpoint.',
    todo: 'Correct the setting or create the object, then activate the connection.',
  },
  bucket_not_found: {
    action: 'reconfigure',
    when: 'The bucket or container that a setting names does not exist.',
    todo: 'Correct the path or create the bucket, then activate the connection.',
  },
  table_not_found: {
    action: 'reconfigure',
    when: 'The database, schema or table that a setting names does not exist or is not visible to this user.',
    todo: 'Correct the setting, create the table or grant the user access, then activate the connection.',
  },
  column_not_found: {
    action: 'reconfigure',
    when: 'A column that a setting or the mapping names does not exist.',
    todo: 'Add the column, or correct the setting or the mapping, then activate the connection.',
  },
  key_not_unique: {
    action: 'reconfigure',
    when: 'The destination table has no primary key or unique index on the key columns of an upsert.',
    todo: 'Create the index or choose other key columns, then activate the connection.',
  },
  columns_do_not_fit: {
    action: 'reconfigure',
    when: 'The source columns and the mapping do not provide what the destination needs, or a column cannot be written.',
    todo: 'Correct the mapping, then activate the connection.',
  },
  invalid_query: {
    action: 'reconfigure',
    when: 'The database cannot run the SQL query of the source, or its result has two columns with the same name.',
    todo: 'Correct the query, then activate the connection.',
  },
  terms_not_accepted: {
    action: 'reconfigure',
    when: 'The platform requires that its terms are accepted, or that a declaration is made, for this account.',
    todo: 'Do this on the platform, then activate the connection.',
  },
  account_restricted: {
    action: 'reconfigure',
    when: 'The platform does not allow this for the account, has locked or flagged the account or the list, or billing is not enabled.',
    todo: 'Resolve it with the platform, then activate the connection.',
  },
  too_many_files: {
    action: 'reconfigure',
    when: 'The path of the source matches more files than one transfer can read.',
    todo: 'Narrow the path or move old files, then activate the connection.',
  },
  source_changed: {
    action: 'fail',
    when: 'The source, or its settings, changed while the transfer was reading it.',
    todo: 'Start a new transfer.',
  },
  changes_lost: {
    action: 'reconfigure',
    when: 'A database no longer has all changes since the last transfer, or a change cannot be repeated at the destination.',
    todo: 'Follow the message, reset the state of the connection, so that the next transfer copies everything again, then activate the connection.',
  },
  upload_lost: {
    action: 'fail',
    when: 'Parts that the transfer wrote to the destination earlier are gone, or their upload was aborted.',
    todo: 'Start a new transfer, and find out what removes unfinished uploads.',
  },
  object_archived: {
    action: 'fail',
    when: 'An object of the source is in an archive tier and cannot be read.',
    todo: 'Restore the object, then start a new transfer.',
  },
  invalid_file: {
    action: 'fail',
    when: 'A source file is invalid: damaged, without a readable header, in another encoding or format, or with other columns than the previous files.',
    todo: 'Correct the file or the format and encoding in the settings, then start a new transfer.',
  },
  file_too_large: {
    action: 'fail',
    when: 'A file, or a part of it, is too large to be read or written.',
    todo: 'Write smaller files, pages or row groups, then start a new transfer.',
  },
  row_too_large: {
    action: 'fail',
    when: 'A source row is too large to be read.',
    todo: 'Exclude large columns, then start a new transfer.',
  },
  too_many_columns: {
    action: 'fail',
    when: 'The source has too many columns, too long column names or too deep nesting.',
    todo: 'Select fewer columns or shorten their names, then start a new transfer.',
  },
  response_too_large: {
    action: 'fail',
    when: 'A response or listing of the platform is too large to be read.',
    todo: 'Check the address, or set a narrower path.',
  },
  statement_failed: {
    action: 'fail',
    when: 'The database refused a statement, failed on a value, or reached one of its limits.',
    todo: 'Correct the query or the data as the message says, then start a new transfer.',
  },
  invalid_key: {
    action: 'fail',
    when: 'Values in the key columns of the source are missing, not unique, too long or not text, so no checkpoint can be stored.',
    todo: 'Select other key columns, or no key columns.',
  },
  request_refused: {
    action: 'fail',
    when: 'The platform refused a request for a reason that the connector does not know and that does not depend on the rows.',
    todo: 'Check the settings of the connection. If they are correct, report the message to your operator.',
  },
  unexpected_response: {
    action: 'fail',
    when: 'The platform sent an unexpected response: an unknown status, endless redirects, or a protocol violation.',
    todo: 'Check that the address belongs to the platform. If it does, report the message to your operator.',
  },
  everything_refused: {
    action: 'fail',
    when: 'The destination refused many consecutive rows or requests in the same way and accepted none, so the rows are not the cause.',
    todo: 'Check the account, the list, the mapping and the settings of the destination.',
  },
  version_retired: {
    action: 'fail',
    when: 'The platform has retired the version of its API that the connector uses.',
    todo: 'Ask your operator to update this service.',
  },
  clock_skewed: {
    action: 'fail',
    when: 'The clock of this machine is wrong, so the platform does not accept its requests.',
    todo: 'Ask your operator to set the clock.',
  },
  disk_full: {
    action: 'fail',
    when: 'The disk of a local folder, or the storage of an account, is full or does not support files of this size.',
    todo: 'Free some space, then start a new transfer.',
  },
  confirmation_needed: {
    action: 'fail',
    when: 'The transfer would replace all data at the destination with much less data than the last time, or a mirror would remove too many of the rows that it sent. Nothing was replaced or removed.',
    todo: 'Check the source, or start the transfer with "confirm": true.',
  },
  columns_changed: {
    action: 'fail',
    when: 'Columns of the source or the destination table changed since the last successful transfer, and the connection is set to stop. Nothing was moved.',
    todo: 'Restore the columns, or accept the changes of the connection; then start a new transfer.',
  },
  ...tableErrors,
  rule_broken: {
    action: 'fail',
    when: 'A rule of the connection that stops transfers is broken. The message names the rule, and the number of records that had been delivered.',
    todo: 'Correct the source or change the rule; then start a new transfer.',
  },
  settings_changed: {
    action: 'fail',
    when: 'After the transfer started, its connector was configured for another server or account. The new secret must not be sent to the previous server.',
    todo: 'Start a new transfer.',
  },
  digests_full: {
    action: 'fail',
    when: 'The organization has reached its limit of digests of sent rows.',
    todo: 'Let a connection send all rows instead of only changed rows, or ask your operator to raise the limit named in the message.',
  },
  nothing_to_replay: {
    action: 'fail',
    when: 'The rejected records that a replay should send are no longer kept.',
    todo: 'Start a new transfer.',
  },
  nothing_accepted: {
    action: 'fail',
    when: 'The transfer ended, and no record was accepted.',
    todo: 'Check the reasons of the rejected records, and correct the source or the mapping.',
  },
  run_time_exceeded: {
    action: 'fail',
    when: 'The transfer ran for longer than PENSTOCK_TRANSFER_HOURS allows. Confirmed records are kept.',
    todo: 'Split the source, or ask your operator for more time.',
  },
  restored: {
    action: 'fail',
    when: 'The database was restored from a backup that was made before the transfer ended.',
    todo: 'Start a new transfer.',
  },
  ...secretErrors,
  internal: {
    action: 'fail',
    when: 'A defect of this service.',
    todo: 'Report the identifier of the transfer to your operator.',
  },
  out_of_memory: {
    action: 'restart',
    when: 'The transfer needed more memory than a runner can use (PENSTOCK_RUNNER_MEMORY_MB).',
    todo: 'Use smaller rows, files or row groups, or ask your operator for more memory, then activate the connection.',
  },
  no_progress: {
    action: 'restart',
    when: 'The transfer made no progress for PENSTOCK_PROGRESS_SECONDS, or the connector did not respond.',
    todo: 'Check both sides, then activate the connection.',
  },
  runner_crashed: {
    action: 'restart',
    when: 'The process that ran the transfer ended unexpectedly.',
    todo: 'Check both sides, then activate the connection; if it persists, report the identifier of the transfer to your operator.',
  },
  account_deleted: {
    action: 'stop',
    when: 'The sub-account was deleted while the transfer was active.',
    todo: 'Nothing.',
  },
  account_disabled: {
    action: 'stop',
    when: 'The sub-account was disabled while the transfer was active.',
    todo: 'Enable the sub-account, then start a new transfer.',
  },
  connection_not_active: {
    action: 'stop',
    when: 'The connection was disabled or deleted, or became broken or offline, while the transfer was active.',
    todo: 'Activate the connection, then start a new transfer.',
  },
} as const satisfies Record<string, TransferErrorDefinition>

/** The code of an error of a transfer, a preview or a check. Transfers of earlier versions can have other codes. */
export type TransferErrorCode = keyof typeof transferErrors

type CodesWith<Action extends ErrorAction> = {
  [Code in TransferErrorCode]: (typeof transferErrors)[Code]['action'] extends Action ? Code : never
}[TransferErrorCode]

/** Codes of errors that connectors throw. */
export type ConnectorErrorCode = Exclude<
  CodesWith<Exclude<ErrorAction, 'restart' | 'stop'>>,
  'connector_failed' | 'internal' | 'stored_value_unreadable'
>
/** Codes of transfers whose runner died. */
export type CrashCode = CodesWith<'restart'>
/** Codes of transfers that were stopped by a change of their connection or sub-account. */
export type StopCode = CodesWith<'stop'>

/** Action of a code. */
export const actionOf = (code: TransferErrorCode): ErrorAction => transferErrors[code].action
/** Whether a text, such as one that another process sent, is a code of the table. */
export const isTransferErrorCode = (code: string): code is TransferErrorCode => Object.hasOwn(transferErrors, code)
