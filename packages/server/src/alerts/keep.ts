import { type AlertChannel, alertChannels } from '@penstock/wire'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Db } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { repeat } from '../repeat.ts'
import { announce } from './announce.ts'
import { takeTurn } from './check-queries.ts'
import { type DeliverDeps, deliverDue } from './deliver.ts'
import { deliveryTotals } from './delivery-queries.ts'
import { evaluate } from './evaluate.ts'
import { countOpen } from './incident-queries.ts'
import { sweep } from './sweep.ts'

/** The alerts of every worker: it looks at what changed, and sends the messages about it. */

export type KeepDeps = DeliverDeps & { readonly catalogue: Catalogue }

/** How soon an incident is opened after its cause, and a message sent after that. */
const everyMs = 2_000

/** Runs until the signal aborts. */
export async function keepAlerts(deps: KeepDeps, log: Logger, signal: AbortSignal): Promise<void> {
  const tasks = [
    { name: 'evaluating alert rules', everyMs, run: () => lookAtAll(deps, signal) },
    ...alertChannels.map((channel) => ({
      name: `sending alerts by ${channel}`,
      everyMs,
      run: () => deliverAll(deps, channel, log, signal),
    })),
  ]
  await Promise.all(tasks.map((task) => repeat(task, log, signal)))
}

/** Each channel on its own: one that is down does not keep the others waiting. */
async function deliverAll(deps: KeepDeps, channel: AlertChannel, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await deliverDue(deps, channel, log)) > 0);
}

/** Looks at everything that is noted, sweeps, and writes the messages. */
export async function lookAtAll(
  { database, catalogue, mailer }: Pick<KeepDeps, 'database' | 'catalogue' | 'mailer'>,
  signal?: AbortSignal,
): Promise<void> {
  const mailIsSetUp = mailer.isSetUp
  const look = async () => {
    for (let [checked, written] = [1, 1]; checked + written > 0 && !signal?.aborted; ) {
      ;[checked, written] = await database.transaction(async (tx) => {
        if (!(await takeTurn.first(tx, {}))?.taken) return [0, 0]
        return [await evaluate(tx), await announce(tx, { catalogue, mailIsSetUp })]
      })
    }
  }
  await look()
  await sweep(database, look, { signal })
}

/** Metrics of alerts, over all organizations. */
export async function alertFigures(db: Db) {
  const [open, deliveries] = await Promise.all([countOpen.first(db, {}), deliveryTotals.all(db, {})])
  return { open: open?.open ?? 0, deliveries }
}
