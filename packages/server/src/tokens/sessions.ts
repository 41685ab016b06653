import { limits } from '@penstock/wire'
import { requireGrantable } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { newIdentifier } from '../identifiers.ts'
import { requireAccounts } from '../organizations/clients.ts'
import { refuse } from '../refusal.ts'
import { issueSession } from './tokens.ts'

/** Session tokens: the back end of a product passes them to the browser of its customer. */

/** Refuses with `forbidden` scopes that the actor does not have. */
export async function createSession({
  db: tx,
  actor,
  body: { accountId, scopes, expiry = limits.sessionSecondsDefault },
}: Call<'createSession'>): Promise<Answer<'createSession'>> {
  if (actor.clientId === undefined) {
    refuse('forbidden', [{ field: 'client', message: 'sessions are created with the token of client credentials' }])
  }
  requireGrantable(actor, { scopes, accountIds: [accountId] })
  await requireAccounts(tx, actor, [accountId], () => 'body.accountId')
  const sessionId = newIdentifier()
  const { accessToken, lifetimeSeconds } = await issueSession(tx, {
    clientId: actor.clientId,
    sessionId,
    scopes,
    accountIds: [accountId],
    lifetimeSeconds: expiry,
  })
  return { reply: { accessToken, tokenType: 'Bearer', expiry: lifetimeSeconds, sessionId, accountId, scopes } }
}
