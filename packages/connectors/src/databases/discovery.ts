import {
  type ConnectorContext,
  ConnectorError,
  type Discover,
  type DiscoveredPage,
  type DiscoveryContext,
} from '@penstock/connector'
import { windowOf } from '../discovery/pages.ts'
import { type DatabaseSession, inSession, type OpenSession } from './sessions.ts'
import { placeOf } from './settings.ts'

/** A person waits for the answer. */
const boundMs = 20_000

/** The search of a discovery as a pattern of LIKE. */
export const likeOf = ({ search }: DiscoveryContext): string => `%${search.replace(/[\\%_]/g, '\\$&')}%`

/** Makes a discovery of a question to a database that is signed in to. */
export const inDatabase =
  <Session extends DatabaseSession>(
    defaultPort: number,
    openSession: OpenSession<Session>,
    find: (session: Session, context: DiscoveryContext) => Promise<DiscoveredPage>,
  ): Discover =>
  async (context) => {
    // An invalid cursor is refused before the database is asked.
    windowOf(context)
    const session = await openSession(context, placeOf(context.secrets, defaultPort))
    return inSession(session, () => find(session, context), boundMs)
  }

/** The table that the settings name. Throws `invalid_setting` if they name none. */
export function tableIn({ settings }: Pick<ConnectorContext, 'settings'>): string {
  const { table } = settings
  if (typeof table === 'string' && table !== '') return table
  throw new ConnectorError('invalid_setting', 'Select the table first: its columns are listed then.')
}
