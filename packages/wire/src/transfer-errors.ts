/**
 * Every error that a transfer, a preview or a check can meet: what the engine and the service do about it, when it occurs,
 * and what a person does. Connectors throw a `ConnectorError` with a code of this table, and what follows from a code
 * follows from its action alone (`decide`). What callers of the API are refused with is another table, in `errors.ts`.
 */

/** What is done about an error, in the words of `docs/errors.md`. */
export const errorActions = {
  retry:
    'The transfer waits and tries again, as long as the retry policy allows, and then fails. The connection stays as it is.',
  reconnect:
    'Tried again like `retry`. If it lasts, the transfer fails and the connection goes offline until both sides answer again.',
  split:
    'The batch is halved until single rows are left; a row that is refused alone is rejected, and the others are delivered.',
  reauthenticate: 'The transfer fails and the connection is broken until you save working credentials and activate it.',
  reconfigure:
    'The transfer fails and the connection is broken until you change a setting or something on the platform, and activate it.',
  restart:
    'Another runner continues the transfer. If it happens again and again, the transfer fails and the connection is broken.',
  fail: 'The transfer fails. The connection stays as it is, and the next transfer can succeed.',
  stop: 'The transfer is cancelled, because its connection or sub-account was changed. The connection stays as it is.',
} as const
export type ErrorAction = keyof typeof errorActions

export type TransferErrorDefinition = {
  readonly action: ErrorAction
  /** When it occurs, for the documents. */
  readonly when: string
  /** What a person does about it, for the documents; the message of the error says more. */
  readonly todo: string
}

export const transferErrors = {
  rate_limited: {
    action: 'retry',
    when: 'The platform limits how often it may be called, or has blocked the account for a while.',
    todo: 'Wait, run fewer transfers at once, or ask the platform for a higher limit.',
  },
  platform_error: {
    action: 'retry',
    when: 'The platform or the server reports an internal error.',
    todo: 'Look at the status page or the log of the platform, then start the transfer again.',
  },
  platform_unavailable: {
    action: 'retry',
    when: 'The platform, the server or the disk is temporarily unavailable: it starts or stops, or is out of connections, memory or space.',
    todo: 'Check the server and give it what it lacks, then start the transfer again.',
  },
  connection_lost: {
    action: 'retry',
    when: 'A network connection broke off, or what it carried arrived damaged.',
    todo: 'Check the network and proxies on the way, then start the transfer again.',
  },
  timeout: {
    action: 'retry',
    when: 'The other side accepted the connection but did not answer in time.',
    todo: 'Find out what slows the other side down, then start the transfer again.',
  },
  statement_timeout: {
    action: 'retry',
    when: 'A statement of a database took longer than it may, or the database cancelled it.',
    todo: 'Raise the statement timeout, or read less at once.',
  },
  conflict: {
    action: 'retry',
    when: 'Another transaction or request was in the way: a lock, a deadlock, a rollback.',
    todo: 'If it persists, find out what else changes the same data at that time.',
  },
  malformed_response: {
    action: 'retry',
    when: 'A response cannot be read: it is cut off, is no JSON or XML, or lacks what every such response has.',
    todo: 'Check that the address leads to the platform and that no proxy changes what it answers.',
  },
  result_expired: {
    action: 'retry',
    when: 'A data warehouse no longer keeps the result that was being read. The statement runs again.',
    todo: 'Nothing, unless it persists: then read less at once.',
  },
  writers_running: {
    action: 'retry',
    when: 'Transactions have been writing to the source table for longer than the lag that is set, so that their rows could be missed.',
    todo: 'End these transactions, or raise the lag.',
  },
  connector_failed: {
    action: 'retry',
    when: 'The connector failed in a way that it does not know. Tried again up to three times.',
    todo: 'Start the transfer again; if it persists, report the identifier of the transfer to your operator.',
  },
  unreachable: {
    action: 'reconnect',
    when: 'Nothing answers at the address.',
    todo: 'Check the address and the port, and that the server runs and lets this service in.',
  },
  host_not_found: {
    action: 'reconnect',
    when: 'The name of the host cannot be resolved.',
    todo: 'Check the address, and the DNS of this service.',
  },
  wrong_protocol: {
    action: 'reconnect',
    when: 'What answers does not speak the protocol that is expected, such as TLS, SSH or that of the database.',
    todo: 'Check the address and the port.',
  },
  invalid_batch: {
    action: 'split',
    when: 'The destination refused a batch because of what is in it, and did not say which row is to blame.',
    todo: 'Nothing: the row is found and rejected with the reason.',
  },
  batch_too_large: {
    action: 'split',
    when: 'The destination finds a batch too large.',
    todo: 'Nothing, unless single rows are too large: make them smaller.',
  },
  invalid_credentials: {
    action: 'reauthenticate',
    when: 'The platform does not accept the credentials, or they are not in the form that they must have.',
    todo: 'Authorize the connector again, or save valid credentials in it, then activate the connection.',
  },
  expired_credentials: {
    action: 'reauthenticate',
    when: 'The credentials were valid and have expired.',
    todo: 'Authorize the connector again, or renew them on the platform and save them in it, then activate the connection.',
  },
  permission_denied: {
    action: 'reconfigure',
    when: 'The credentials are valid, and may not do what is needed.',
    todo: 'Grant the permission that the message names, then activate the connection.',
  },
  invalid_setting: {
    action: 'reconfigure',
    when: 'A setting of the connector or the connection is missing, or has a value that the platform or the connector cannot use.',
    todo: 'Correct the setting that the message names, then activate the connection.',
  },
  invalid_address: {
    action: 'reconfigure',
    when: 'A URL, host, path or region in the settings is none, or leads somewhere else.',
    todo: 'Correct the address, then activate the connection.',
  },
  address_not_allowed: {
    action: 'reconfigure',
    when: 'The network policy of this deployment does not allow the address.',
    todo: 'Use another address, or ask your operator to allow it in PENSTOCK_EGRESS_ALLOW.',
  },
  insecure_address: {
    action: 'reconfigure',
    when: 'Secrets would travel over http:// to a host for which that is not allowed.',
    todo: 'Use https://, or ask your operator to allow the host in PENSTOCK_ALLOW_HTTP.',
  },
  path_not_allowed: {
    action: 'reconfigure',
    when: 'A path lies outside the folders that the operator allows.',
    todo: 'Use a path inside them, or ask your operator to allow the folder.',
  },
  certificate_not_trusted: {
    action: 'reconfigure',
    when: 'The TLS certificate of the server is expired, of another host, or of an authority that is not trusted.',
    todo: 'Renew the certificate, or save the certificate of its authority in the connector.',
  },
  host_key_not_trusted: {
    action: 'reconfigure',
    when: 'The SSH host key is not the one that is expected, or none is expected yet.',
    todo: 'Ask who runs the server for the fingerprint and save it in the connector.',
  },
  not_supported: {
    action: 'reconfigure',
    when: 'The server or table lacks something that the connector or its settings need: encryption, a kind of authentication, SFTP, transactions.',
    todo: 'Change the server or the settings as the message says, then activate the connection.',
  },
  object_not_found: {
    action: 'reconfigure',
    when: 'What a setting names is not on the platform, or not visible to these credentials: a file, folder, list, audience, warehouse or endpoint.',
    todo: 'Correct the setting or create what is missing, then activate the connection.',
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
    when: 'The columns of the source and the mapping do not give what the destination needs, or a column cannot be written.',
    todo: 'Correct the mapping, then activate the connection.',
  },
  invalid_query: {
    action: 'reconfigure',
    when: 'The database cannot run the SQL query of the source, or its result has two columns of one name.',
    todo: 'Correct the query, then activate the connection.',
  },
  terms_not_accepted: {
    action: 'reconfigure',
    when: 'The platform asks that its terms be accepted, or a declaration be made, for this account.',
    todo: 'Do so on the platform, then activate the connection.',
  },
  account_restricted: {
    action: 'reconfigure',
    when: 'The platform does not admit the account to this, has locked or flagged the account or the list, or billing is not enabled.',
    todo: 'Resolve it with the platform, then activate the connection.',
  },
  too_many_files: {
    action: 'reconfigure',
    when: 'The path of the source matches more files than one transfer may read.',
    todo: 'Narrow the path or move files that are done with, then activate the connection.',
  },
  source_changed: {
    action: 'fail',
    when: 'The source, or its settings, changed while the transfer was reading it.',
    todo: 'Start a new transfer.',
  },
  upload_lost: {
    action: 'fail',
    when: 'Parts that were written to the destination earlier in the transfer are gone, or their upload was ended.',
    todo: 'Start a new transfer, and find out what removes unfinished uploads.',
  },
  object_archived: {
    action: 'fail',
    when: 'An object of the source is in an archive tier and cannot be read.',
    todo: 'Restore the object, then start a new transfer.',
  },
  invalid_file: {
    action: 'fail',
    when: 'A file of the source is not what it should be: damaged, without a readable header, in another encoding or format, with other columns than the files before it.',
    todo: 'Correct the file or the format and encoding in the settings, then start a new transfer.',
  },
  file_too_large: {
    action: 'fail',
    when: 'A file, or a part of it, is larger than can be read or written.',
    todo: 'Write smaller files, pages or row groups, then start a new transfer.',
  },
  row_too_large: {
    action: 'fail',
    when: 'A row of the source is larger than can be read.',
    todo: 'Leave large columns out, then start a new transfer.',
  },
  too_many_columns: {
    action: 'fail',
    when: 'The source has more columns, longer column names or deeper nesting than can be read.',
    todo: 'Choose fewer columns, or shorter names, then start a new transfer.',
  },
  response_too_large: {
    action: 'fail',
    when: 'A response or listing of the platform is larger than can be read.',
    todo: 'Check the address, or name a narrower path.',
  },
  statement_failed: {
    action: 'fail',
    when: 'The database refused a statement, failed on a value that it read, or reached one of its limits.',
    todo: 'Correct the query or the data as the message says, then start a new transfer.',
  },
  invalid_key: {
    action: 'fail',
    when: 'Values in the key columns of the source are missing, not unique, too long or no text, so that the place in the source cannot be kept.',
    todo: 'Choose other key columns, or none.',
  },
  request_refused: {
    action: 'fail',
    when: 'The platform refused a request, whatever rows are in it, for a reason that the connector does not know.',
    todo: 'Check the settings of the connection; if they are right, report the message to your operator.',
  },
  unexpected_response: {
    action: 'fail',
    when: 'The platform answered in a way that the connector does not expect: an unknown status, endless redirects, a breach of the protocol.',
    todo: 'Check that the address leads to the platform; if it does, report the message to your operator.',
  },
  everything_refused: {
    action: 'fail',
    when: 'The destination refused many rows or requests in a row alike and accepted none, so that the rows are not to blame.',
    todo: 'Check the account, the list, the mapping and the settings of the destination.',
  },
  version_retired: {
    action: 'fail',
    when: 'The platform has retired the version of its API that the connector uses.',
    todo: 'Ask your operator to update this service.',
  },
  clock_skewed: {
    action: 'fail',
    when: 'The clock of the machine that runs this service is wrong, so that the platform does not accept its requests.',
    todo: 'Ask your operator to set the clock.',
  },
  disk_full: {
    action: 'fail',
    when: 'The disk of a local folder is full, or takes no file of this size.',
    todo: 'Free some space, then start a new transfer.',
  },
  confirmation_needed: {
    action: 'fail',
    when: 'The transfer would replace everything at the destination with much less than the last time. Nothing was changed.',
    todo: 'Check the source, or start the transfer with "confirm": true.',
  },
  nothing_to_replay: {
    action: 'fail',
    when: 'The rejected records that a replay should send are no longer kept.',
    todo: 'Start a new transfer.',
  },
  nothing_accepted: {
    action: 'fail',
    when: 'The transfer reached its end, and not one record was accepted.',
    todo: 'Look at why the records were rejected, and correct the source or the mapping.',
  },
  run_time_exceeded: {
    action: 'fail',
    when: 'The transfer ran for longer than PENSTOCK_TRANSFER_HOURS allows. What was confirmed is kept.',
    todo: 'Split the source, or ask your operator to allow more.',
  },
  restored: {
    action: 'fail',
    when: 'The database was restored from a backup that was made before the transfer had ended.',
    todo: 'Start a new transfer.',
  },
  internal: {
    action: 'fail',
    when: 'A defect of this service.',
    todo: 'Report the identifier of the transfer to your operator.',
  },
  out_of_memory: {
    action: 'restart',
    when: 'The transfer needed more memory than a runner may use (PENSTOCK_RUNNER_MEMORY_MB).',
    todo: 'Use smaller rows, files or row groups, or ask your operator for more memory, then activate the connection.',
  },
  no_progress: {
    action: 'restart',
    when: 'Nothing moved for PENSTOCK_PROGRESS_SECONDS, or the connector did not react.',
    todo: 'Check both sides, then activate the connection.',
  },
  runner_crashed: {
    action: 'restart',
    when: 'The process that ran the transfer ended unexpectedly.',
    todo: 'Check what both sides answer, then activate the connection; if it persists, report the identifier of the transfer to your operator.',
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

/** The code of an error of a transfer, a preview or a check. Transfers of earlier versions may have other codes. */
export type TransferErrorCode = keyof typeof transferErrors

type CodesWith<Action extends ErrorAction> = {
  [Code in TransferErrorCode]: (typeof transferErrors)[Code]['action'] extends Action ? Code : never
}[TransferErrorCode]

/** Codes of what is thrown while connectors work. */
export type ConnectorErrorCode = Exclude<
  CodesWith<Exclude<ErrorAction, 'restart' | 'stop'>>,
  'connector_failed' | 'internal'
>
/** Codes of transfers whose runner died. */
export type CrashCode = CodesWith<'restart'>
/** Codes of transfers that were stopped by a change of their connection or sub-account. */
export type StopCode = CodesWith<'stop'>

/** What follows from a code. */
export const actionOf = (code: TransferErrorCode): ErrorAction => transferErrors[code].action

/** Whether a text, such as one that another process sent, is a code of the table. */
export const isTransferErrorCode = (code: string): code is TransferErrorCode => Object.hasOwn(transferErrors, code)

/** Problems that a preview finds at the destination and that fail no transfer, but reject records. */
export const findingWarnings = {
  required_column_not_delivered: {
    when: 'The destination needs a value in a column that nothing is mapped to and that has no default. A trigger may still fill it.',
    todo: 'Map a column to it, or give it a default.',
  },
  type_mismatch: {
    when: 'Some of the records looked at have a value that the column of the destination does not take.',
    todo: 'Map another column to it, or change its type.',
  },
} as const
/** The code of a finding: the one with which a transfer would fail, or a warning. */
export type FindingCode = ConnectorErrorCode | 'connector_failed' | keyof typeof findingWarnings
