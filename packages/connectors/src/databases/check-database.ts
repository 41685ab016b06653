import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { checkConnectivity } from './connectivity.ts'
import { type DatabaseSession, inSession, type OpenSession } from './sessions.ts'
import { placeOf } from './settings.ts'

/** A question to a database that is signed in to. Answers with a sentence. */
type Step<Session> = (session: Session, context: ConnectorContext) => Promise<string>

/**
 * The check of a database: reaches the server, signs in, and looks up what the user may do. Nothing is written.
 * @param stepMs how long a step may take in a session; as long as any work in it unless said
 */
export function checkDatabase<Session extends DatabaseSession>(
  { defaultPort, openSession, stepMs }: { defaultPort: number; openSession: OpenSession<Session>; stepMs?: number },
  { signedIn, permitted }: { signedIn: Step<Session>; permitted: Step<Session> },
): Check {
  const place = ({ secrets }: ConnectorContext) => placeOf(secrets, defaultPort)
  const within = async (context: ConnectorContext, step: Step<Session>) =>
    inSession(await openSession(context, place(context)), (session) => step(session, context), stepMs)
  return checkSteps(
    ['connectivity', (context) => checkConnectivity(context, place(context))],
    ['authentication', (context) => within(context, signedIn)],
    ['permissions', (context) => within(context, permitted)],
  )
}
