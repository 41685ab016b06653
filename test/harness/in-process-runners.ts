import { createEgress } from '@penstock/connector/egress'
import { Ended } from '@penstock/engine'
import { HostChannel, type Runtime, runJob } from '@penstock/engine/jobs'
import type { Runners } from '../../packages/server/src/runners/runner-pool.ts'
import { EndJob } from '../../packages/server/src/runners/runner-process.ts'

/**
 * Runners inside this process, for tests that write the sides of a connection as functions: the same engine, and the same
 * messages as between processes.
 * @param routes origins of platforms, and where the test answers for them
 */
export function createInProcessRunners(
  given: Omit<Runtime, 'egress' | 'plainHttp'>,
  routes: Readonly<Record<string, string>> = {},
): Runners {
  const egress = createEgress({ networkPolicy: 'any', routes })
  const runtime: Runtime = { ...given, egress, plainHttp: { loopback: true, allow: [] } }
  return {
    async run(job, { signal, answer }) {
      const ending = new AbortController()
      const end = () => ending.abort(new Ended(signal.reason instanceof EndJob && signal.reason.resumes))
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
      const host: HostChannel = new HostChannel((message) => {
        if (message.type !== 'call' || !answer) throw new Error('A job without a host calls it')
        const { id, method, argument } = message
        answer(method, copied(argument)).then(
          (value) => host.receive({ type: 'answer', id, value: copied(value ?? null) }),
          (error) => host.receive({ type: 'ended', id, resumes: error instanceof EndJob && error.resumes }),
        )
      })
      const deps = { runtime, host, signal: ending.signal, onProgress: () => {} }
      return copied(await runJob(copied(job), deps))
    },
    stats: () => ({ running: 0, idle: 0, memoryBytes: 0, deaths: noDeaths }),
    isPaused: false,
    close: () => egress.close(),
  }
}

/** As JSON brings it over. */
const copied = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

const noDeaths = { out_of_memory: 0, no_progress: 0, deadline: 0, runner_crashed: 0, not_ended: 0, not_started: 0 }
