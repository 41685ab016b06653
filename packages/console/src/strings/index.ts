import { accounts } from './accounts.ts'
import { parts } from './parts.ts'
import { session } from './session.ts'
import { shell } from './shell.ts'

/** Every text of the console; a file for each screen. */
export const strings = { accounts, parts, session, shell }
