import type { Job } from '@penstock/engine'
import type { Runners } from '../../packages/server/src/runners/runner-pool.ts'

/** The kinds of jobs that services in this process have run since the test file began. */
export const jobsRun: Set<Job['kind']> = new Set()

/** Runners that record which kinds of jobs they run. */
export const recordingJobs = (runners: Runners): Runners => ({
  run: (job, options) => {
    jobsRun.add(job.kind)
    return runners.run(job, options)
  },
  stats: () => runners.stats(),
  get isPaused() {
    return runners.isPaused
  },
  close: () => runners.close(),
})
