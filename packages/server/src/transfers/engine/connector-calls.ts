import { asOutcome } from '@penstock/connector'

/** Calls of connectors: what they throw is told apart from what our own code throws. */

/** Whether the connectors are to blame, and not our database or a stop. */
export const isOfTheEnds = (error: unknown) => asOutcome(error) !== undefined || error instanceof ConnectorDefect

/** A connector threw something that is no outcome. */
export class ConnectorDefect extends Error {
  override readonly name = 'ConnectorDefect'
}

/** Calls a connector: what it throws is told apart from what our own code throws. */
export async function ofConnector<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  try {
    return await call()
  } catch (error) {
    signal.throwIfAborted()
    if (asOutcome(error)) throw error
    throw new ConnectorDefect('The connector met a defect of its own.', { cause: error })
  }
}
