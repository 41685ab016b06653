import { accounts } from './accounts.ts'
import { catalogue } from './catalogue.ts'
import { connection } from './connection.ts'
import { connections } from './connections.ts'
import { connectors } from './connectors.ts'
import { deleted } from './deleted.ts'
import { fields } from './fields.ts'
import { newConnection } from './new-connection.ts'
import { overview } from './overview.ts'
import { parts } from './parts.ts'
import { reports } from './reports.ts'
import { run } from './run.ts'
import { session } from './session.ts'
import { shell } from './shell.ts'

/** Every text of the console; a file for each screen. */
export const strings = {
  accounts,
  catalogue,
  connection,
  connections,
  connectors,
  deleted,
  fields,
  newConnection,
  overview,
  parts,
  reports,
  run,
  session,
  shell,
}
