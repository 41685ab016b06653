import type { ConnectorContext } from '@penstock/connector'
import type { DatabaseSession } from './sessions.ts'

/** Sessions that a part of a transfer leaves open for the next part in the same runner (docs/decisions/tables.md). */

/** A session that can be used again. */
export type ReusableSession<Session extends DatabaseSession> = {
  readonly session: Session
  /** Ends the open transaction. Throws what `guard` throws. */
  rollBack(): Promise<void>
  /** Drops settings, temporary tables and everything else that the last use left. Throws what `guard` throws. */
  reset(): Promise<void>
  /** Stops with the signal of this context from now on; without a context while the session is not used. */
  follow(context: ConnectorContext | undefined): void
}

/** For a statement of a session that is about to be kept or used again. */
const boundMs = 5_000

/**
 * Uses a session that an earlier part left open, or connects. Closing it leaves it open for the next part, if the context keeps
 * sessions and the session still works.
 * @param key everything that the session depends on: its kind, the server and the user
 * @throws what `connect` throws
 */
export async function reuse<Session extends DatabaseSession>(
  context: ConnectorContext,
  key: string,
  connect: () => Promise<ReusableSession<Session>>,
): Promise<Session> {
  const { sessions } = context
  if (!sessions) return (await connect()).session
  const reusable = (await keptFor<Session>(context, key)) ?? (await connect())
  const { session } = reusable
  let isReturned = false
  return {
    ...session,
    get alive() {
      return !isReturned && session.alive
    },
    abandon(connectorError) {
      if (!isReturned) session.abandon(connectorError)
    },
    async close() {
      if (isReturned) return
      isReturned = true
      if (!(await isSettled(reusable)) || !sessions.keep(key, reusable)) await session.close()
    },
  }
}

/** A kept session that still works. */
async function keptFor<Session extends DatabaseSession>(
  context: ConnectorContext,
  key: string,
): Promise<ReusableSession<Session> | undefined> {
  for (;;) {
    const kept = context.sessions?.take(key) as ReusableSession<Session> | undefined
    if (!kept) return undefined
    kept.follow(context)
    try {
      await kept.session.guard(() => kept.reset(), boundMs)
      if (kept.session.alive) return kept
    } catch {
      context.signal.throwIfAborted()
    }
    kept.session.abandon()
    await kept.session.close()
  }
}

/** Ends what its use left open. @returns whether it can be used again */
async function isSettled<Session extends DatabaseSession>(reusable: ReusableSession<Session>): Promise<boolean> {
  const { session } = reusable
  if (!session.alive) return false
  try {
    await session.guard(() => reusable.rollBack(), boundMs)
    reusable.follow(undefined)
    return session.alive
  } catch {
    return false
  }
}
