import { Worker } from 'node:worker_threads'

const lookEveryMs = 500

/**
 * Kills this process once its parent is gone. A process whose event loop is blocked cannot notice that; a
 * thread of its own does.
 * @param parent its process ID: when the thread runs, another process can have replaced the parent
 */
export function guardAgainstOrphanhood(parent = process.ppid): void {
  const guard = new Worker(
    `setInterval(() => { if (process.ppid !== ${parent}) process.kill(process.pid, 'SIGKILL') }, ${lookEveryMs})`,
    { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 } },
  )
  guard.unref()
  // Where a thread cannot be had, the process works without one.
  guard.on('error', () => {})
}
