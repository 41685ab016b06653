import { Worker } from 'node:worker_threads'

const lookEveryMs = 500

/**
 * Kills this process after its parent has ended. A process whose event loop is blocked cannot notice this, so a separate thread
 * watches the parent.
 * @param parent its process ID: when the thread runs, another process can have replaced the parent
 */
export function guardAgainstOrphanhood(parent = process.ppid): void {
  const guard = new Worker(
    `setInterval(() => { if (process.ppid !== ${parent}) process.kill(process.pid, 'SIGKILL') }, ${lookEveryMs})`,
    { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 } },
  )
  guard.unref()
  // If no thread can be started, the process works without it.
  guard.on('error', () => {})
}
