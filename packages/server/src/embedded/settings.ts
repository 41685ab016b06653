const fixed = {
  listen_addresses: '127.0.0.1',
  max_connections: '100',
  shared_buffers: '128MB',
  password_encryption: 'scram-sha-256',
  timezone: 'UTC',
  lc_messages: 'C',
  // One file for each day of the week, emptied when its day comes round again.
  logging_collector: 'on',
  log_directory: '../log',
  log_filename: 'postgresql-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: '0',
  log_truncate_on_rotation: 'on',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  // Statements and their errors can contain secrets. So only messages of the server itself are logged.
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
}

const undurable = { fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: '0' }

/** Settings in which one server can differ from others. */
export type ServerChoices = {
  /** whether committed data survives a power cut; false is for tests */
  durable: boolean
  /** more settings of PostgreSQL, each stronger than ours */
  settings: Record<string, string>
}

/** The text of a server's postgresql.conf. */
export function configuration(
  { port, socketDirectory = '' }: { port: number; socketDirectory: string | undefined },
  { durable, settings }: ServerChoices,
): string {
  const all: Record<string, string> = {
    ...fixed,
    // The value is a list, whose entries can be quoted.
    unix_socket_directories: socketDirectory && `"${socketDirectory.replaceAll('"', '""')}"`,
    ...(durable ? {} : undurable),
    ...settings,
    port: String(port),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${value.replace(/[\\']/g, '$&$&')}'`)
  return `# Penstock overwrites this file at each start.\n${lines.join('\n')}\n`
}
