import type { Transaction } from '../../db/database.ts'
import type { Logger } from '../../log.ts'
import { blackoutEnd } from '../blackouts.ts'
import * as queries from './dependent-queries.ts'
import type { SupervisorDeps } from './deps.ts'
import { type StartableRow, type StartDeps, startMany } from './start-many.ts'

/**
 * Starts the transfers of connections that run after others, in every worker. The end of a transfer leaves a note, in its own
 * transaction; the note is removed in the transaction that starts the dependent transfer. So a worker that is killed in between
 * loses none and starts none twice.
 */

/** Connections of one transaction, which holds them. */
const atOnce = 200

type DependentDeps = Pick<SupervisorDeps, 'database'> & StartDeps

/** Looks at everything that is noted, in batches that several workers may take concurrently. */
export async function startDependents(deps: DependentDeps, log: Logger, stopping?: AbortSignal): Promise<void> {
  for (let seen = atOnce; seen === atOnce && !stopping?.aborted; ) {
    seen = await deps.database.transaction((tx) => startBatch(tx, deps, log))
  }
}

/** @returns how many connections were looked at */
async function startBatch(tx: Transaction, deps: DependentDeps, log: Logger): Promise<number> {
  const held = (await queries.holdNoted.all(tx, { limit: atOnce })).filter(isOutsideBlackout)
  if (held.length === 0) return 0
  const notes = await queries.takeNotes.all(tx, { connectionIds: held.map(({ connectionId }) => connectionId) })
  const ready = new Map<string, queries.NoteRow>()
  for (const note of notes) if (note.isReady && endedWell(note)) ready.set(note.connectionId, note)
  await startMany(
    tx,
    deps,
    held.flatMap((row) => {
      const note = ready.get(row.connectionId)
      if (!note) return []
      return [{ ...row, startedBy: { kind: 'schedule', id: note.afterConnectionId, name: note.afterName } as const }]
    }),
    { trigger: 'dependency', log },
  )
  const active = new Set(held.filter(({ status }) => status === 'active').map(({ connectionId }) => connectionId))
  for (const { connectionId, afterConnectionId, afterName, status, isReady } of notes) {
    const isFailure = !isReady && active.has(connectionId) && !endedWell({ status })
    if (isFailure) await queries.addFailure.run(tx, { connectionId, status, name: afterName ?? afterConnectionId })
  }
  return held.length
}

const endedWell = ({ status }: Pick<queries.NoteRow, 'status'>) => status === 'succeeded' || status === 'partial'

/** Notes of connections in a blackout wait until its end. */
const isOutsideBlackout = ({ blackout, now }: StartableRow) => !(blackout && blackoutEnd(blackout, now))
