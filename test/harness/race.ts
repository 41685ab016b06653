import { setImmediate as turn } from 'node:timers/promises'
import type { OperationId } from '@penstock/wire'
import { generateMasterKey } from '../../packages/server/src/secrets/seal.ts'
import { type Caller, callerOf } from './fixtures.ts'
import { assertInvariants } from './invariants.ts'
import { type CallOptions, type Reply, startServiceOn, startTestService, type TestService } from './service.ts'

/** Two services on one database, as a company runs several processes, and one organization that calls both. */
export type Rivals = {
  readonly one: TestService
  /** The organization as a caller of one service or, where `index` is odd, of the other. */
  caller(index: number): Caller
  /** A call of an operation through one service or, where `index` is odd, through the other. */
  move<I extends OperationId>(index: number, operation: I, options: CallOptions<I>): Move
  /** Fails with every broken rule of the account. */
  assertInvariants(accountId: string): Promise<void>
  /** Ends both, and fails with every broken rule of the database. */
  close(): Promise<void>
}

export async function startRivals(): Promise<Rivals> {
  const env = { PENSTOCK_MASTER_KEY: generateMasterKey() }
  const one = await startTestService(env)
  const two = await startServiceOn(one.databaseUrl, env)
  const organization = await one.addOrganization()
  const callers = [callerOf(one, organization), callerOf(two, organization)] as const
  const caller = (index: number) => callers[index % 2 === 0 ? 0 : 1]
  return {
    one,
    caller,
    move: (index, operation, options) => () => caller(index).call(operation, options),
    assertInvariants: (accountId) => assertInvariants(one.database.pool, accountId),
    close: async () => {
      await two.close()
      try {
        await assertInvariants(one.database.pool)
      } finally {
        await one.close()
      }
    },
  }
}

/** Short form of a reply: its error, or its status. */
export const said = ({ status, error }: Reply<unknown>): string | number => error ?? status

/** One thing that is done in a race. */
export type Move = () => Promise<Reply<unknown>>

export type Race<S> = {
  /** Makes what the moves are about, once for each round. */
  prepare(round: number): Promise<S>
  /** The concurrent moves. `round` lets moves change places between callers. */
  moves(scene: S, round: number): readonly Move[]
  /** Fails unless the replies, in the order of the moves, are consistent with each other and with the present state. */
  judge(scene: S, replies: readonly Reply<unknown>[]): Promise<void>
}

/** Head starts cycle through this number of steps, from zero to about the duration of a write. */
const headStarts = 13
const headStartStepMs = 0.3

/**
 * Runs a race repeatedly. In the first rounds, each move in turn ends before the others begin, so that every outcome is judged
 * at least once. In later rounds they begin together, or one has a head start of up to some milliseconds.
 */
export async function runRace<S>(rounds: number, { prepare, moves, judge }: Race<S>): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const scene = await prepare(round)
    const all = moves(scene, round)
    const first = round % all.length
    const replies: Promise<Reply<unknown>>[] = []
    const start = (index: number) => {
      const move = all[index]
      if (move) replies[index] = move()
    }
    start(first)
    if (round < all.length) await replies[first]
    else await pass((Math.floor(round / all.length) % headStarts) * headStartStepMs)
    for (let index = 0; index < all.length; index++) if (index !== first) start(index)
    await judge(scene, await Promise.all(replies))
  }
}

/** Waits for a part of a millisecond, for which timers are too coarse, without blocking the event loop. */
async function pass(ms: number): Promise<void> {
  const end = performance.now() + ms
  while (performance.now() < end) await turn()
}
