import { setTimeout as delay } from 'node:timers/promises'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Db } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { announce } from './announce.ts'
import { takeTurn } from './check-queries.ts'
import { type DeliverDeps, deliverDue } from './deliver.ts'
import { deliveryTotals } from './delivery-queries.ts'
import { evaluate, sweep } from './evaluate.ts'
import { countOpen } from './incident-queries.ts'

/** The alerts of every worker: it looks at what changed, and sends the messages about it. */

export type KeepDeps = DeliverDeps & { readonly catalogue: Catalogue }

/** How soon an incident is opened after its cause, and a message sent after that. */
const tickMs = 2_000

/** Runs until the signal aborts. An error of the database stops nothing: the next tick tries again. */
export async function keepAlerts(deps: KeepDeps, log: Logger, signal: AbortSignal): Promise<void> {
  await Promise.all([
    everyTick(() => lookAtAll(deps, signal), log, signal),
    everyTick(() => deliverAll(deps, log, signal), log, signal),
  ])
}

async function everyTick(work: () => Promise<void>, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await work().catch((err) => log.warn({ err }, 'alerts failed; trying again'))
    await delay(tickMs, undefined, { signal }).catch(() => {})
  }
}

/** Looks at everything that is noted, and writes the messages about it. */
export async function lookAtAll(
  { database, catalogue, mailer }: Pick<KeepDeps, 'database' | 'catalogue' | 'mailer'>,
  signal?: AbortSignal,
): Promise<void> {
  await sweep(database)
  for (let checked = 1, written = 1; checked + written > 0 && !signal?.aborted; ) {
    ;[checked, written] = await database.transaction(async (tx) => {
      if (!(await takeTurn.first(tx, {}))?.taken) return [0, 0]
      const evaluated = await evaluate(tx, mailer.isSetUp)
      return [evaluated.checked, await announce(tx, { catalogue, mailIsSetUp: mailer.isSetUp })]
    })
  }
}

async function deliverAll(deps: KeepDeps, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await deliverDue(deps, log, signal)) > 0);
}

/** What the metrics report of alerts, over all organizations. */
export async function alertFigures(db: Db) {
  const [open, deliveries] = await Promise.all([countOpen.first(db, {}), deliveryTotals.all(db, {})])
  return { open: open?.open ?? 0, deliveries }
}
