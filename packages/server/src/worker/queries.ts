import { statement } from '../db/statement.ts'

/** Statements on the tables of the job queue, which are the library's own. */

/** Gives back what these owners locked, so that it is done again. */
export const unlock = statement<{ names: string[] }>(`select graphile_worker.force_unlock_workers(:names)`)

export const countWaitingJobs = statement<Record<never, never>, { waiting: number }>(`
  select count(*) as waiting from graphile_worker.jobs where run_at <= now() and locked_at is null and attempts < max_attempts
`)
