import type {
  Batch,
  DestinationContext,
  DestinationWriter,
  Finding,
  InspectionContext,
  Json,
} from '@penstock/connector'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { deliverRecords, earlierJobs, type Work } from './deliver-records.ts'
import { describeObject, objectNameIn } from './objects.ts'
import { mergeRows, type RowRules, readRows, rulesOf } from './rows.ts'
import { openSalesforce } from './salesforce-api.ts'
import { judgeColumns, judgeObject, missingFields, openTarget } from './target.ts'

/** More jobs of earlier transfers are not stored. */
const jobsMax = 100

/**
 * Writes rows as jobs of Bulk API 2.0, one for each batch. Jobs have no name, so a job that an earlier attempt began is found by
 * its kind, its time and its rows: a batch is not sent twice.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const rules = rulesOf(context.settings)
  objectNameIn(context.settings)
  const before = [...(context.state === undefined ? [] : [context.state]), ...context.deliveryStates].map(confirmedIn)
  const confirmed: Confirmed = {
    jobs: new Set(before.flatMap(({ jobs }) => jobs)),
    created: Math.max(0, ...before.map(({ created }) => created)),
  }
  let work: Work | undefined
  return {
    async deliver(batch) {
      const { records, rejected } = readRows(rules, batch)
      if (records.length === 0) return { bytes: 0, rejected }
      work ??= await openWork(context, rules, confirmed)
      const { target } = work
      try {
        const merged = mergeRows(records, target.key, target.identityOf)
        const { jobs, bytes, ...delivered } = await deliverRecords(work, merged)
        // Whatever an earlier attempt sent beyond its last confirmation is found by now.
        work.earlier = async () => []
        for (const { id } of jobs) confirmed.jobs.add(id)
        confirmed.created = Math.max(confirmed.created, ...jobs.map(({ created }) => created))
        const deliveryState = { jobs: jobs.map(({ id }) => id).slice(-jobsMax), created: confirmed.created }
        return { bytes, rejected: [...rejected, ...delivered.rejected], deliveryState, state: deliveryState }
      } catch (error) {
        // If the batch is repeated, its jobs are looked for.
        work = undefined
        throw error
      }
    },
  }
}

/** Jobs whose rows are counted, and when the last of them was created, by the clock of Salesforce. */
type Confirmed = { readonly jobs: Set<string>; created: number }

async function openWork(context: DestinationContext, rules: RowRules, confirmed: Confirmed): Promise<Work> {
  const { settings, signal, columns } = context
  const salesforce = await openSalesforce(context)
  const target = await openTarget(salesforce.client, settings, rules, columns)
  const known = confirmed.jobs
  let found: ReturnType<typeof earlierJobs> | undefined
  return {
    salesforce,
    target,
    known,
    waits: { totalMs: Number(settings.resultWaitSeconds ?? 600) * 1000, signal },
    earlier() {
      found ??= earlierJobs({ salesforce, target, known }, context, confirmed.created)
      return found
    },
  }
}

const confirmedIn = (state: Json) => {
  const { jobs, created } = objectIn(state)
  return { jobs: listIn(jobs).flatMap((id) => textIn(id) ?? []), created: numberIn(created) ?? 0 }
}

/** Looks up the object and compares the columns with it. Changes nothing. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const { settings, columns } = context
  const rules = rulesOf(settings)
  const { client } = await openSalesforce(context)
  const object = await describeObject(client, settings)
  judgeObject(object, rules)
  return [...judgeColumns(object, rules, columns), ...missingFields(object, rules, columns)]
}

/** The rows of a batch that are not sent. */
export const rejectionsBy = (rules: RowRules) => (batch: Batch) => readRows(rules, batch).rejected
