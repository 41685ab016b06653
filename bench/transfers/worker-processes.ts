import { readFileSync } from 'node:fs'
import { runnersOf } from '../../test/harness/children.ts'

/** Memory and processor time of a worker and its runners, as the kernel counts them. Only on Linux. */
export type WorkerProcesses = {
  /** Resident memory of the runner that has most, in MB. */
  runnerMemoryMb(): number
  /** The most that any runner has had since the start, in MB. */
  runnerPeakMb(): number
  /** The most that the supervisor has had since its start, in MB. */
  supervisorPeakMb(): number
  /** Processor time of all runners so far, including runners that have ended, in seconds. */
  runnerSeconds(): number
  /** Processor time of the supervisor so far, without its runners, in seconds. */
  supervisorSeconds(): number
  /** Discards earlier samples. */
  resample(): void
  /** The most memory that any runner had in each quarter of the time since `resample`, in MB. */
  runnerMbByQuarter(): number[]
  stop(): void
}

const sampleMs = 100

/**
 * Watches the processes of a worker: connectors read and write in its runners, and the worker itself supervises them. The figures
 * of a runner are lost when it ends, so they are sampled.
 * @param pid of the worker
 */
export function watchWorker(pid: number): WorkerProcesses {
  let peakMb = 0
  let samples: number[] = []
  const sample = () => {
    const runners = runnersOf(pid)
    peakMb = Math.max(peakMb, ...runners.map((runner) => memoryMb(runner, 'VmHWM')))
    samples.push(Math.max(0, ...runners.map((runner) => memoryMb(runner, 'VmRSS'))))
  }
  const timer = setInterval(sample, sampleMs)
  return {
    runnerMemoryMb: () => Math.max(0, ...runnersOf(pid).map((runner) => memoryMb(runner, 'VmRSS'))),
    runnerPeakMb() {
      sample()
      return peakMb
    },
    supervisorPeakMb: () => memoryMb(pid, 'VmHWM'),
    runnerSeconds: () => runnersOf(pid).reduce((sum, runner) => sum + seconds(runner).own, seconds(pid).ofEnded),
    supervisorSeconds: () => seconds(pid).own,
    resample() {
      samples = []
    },
    runnerMbByQuarter() {
      const length = Math.ceil(samples.length / 4)
      return [0, 1, 2, 3].map((at) => Math.max(0, ...samples.slice(at * length, (at + 1) * length)))
    },
    stop: () => clearInterval(timer),
  }
}

function memoryMb(pid: number, line: string): number {
  return Number(new RegExp(`^${line}:\\s+(\\d+) kB`, 'm').exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024
}

/** Processor time of a process, in its own code and in the system for it, and of its children that have ended. */
function seconds(pid: number): { own: number; ofEnded: number } {
  const text = read(`/proc/${pid}/stat`)
  // The name of the program, in brackets, can contain spaces. Times are the 14th to 17th field, in hundredths.
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number)
  return { own: (user + system) / 100, ofEnded: (endedUser + endedSystem) / 100 }
}

/** A file of the kernel; empty if the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
