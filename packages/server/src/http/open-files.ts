/**
 * How many files and sockets the operating system lets this process open at once; `Infinity` if there is no limit or
 * the platform does not report one. Node raises the soft limit to the hard one when it starts.
 */
export function readOpenFilesMax(): number {
  // The interfaces and open sockets of the process, which a report includes otherwise, are slow to look up.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

/** The part of its open files that a process spends on HTTP connections at most. The rest is for what connectors open. */
const shareOfConnections = 0.5

/** Files that a process opens itself: the database, runners, its own channels, and files while it reads them. */
const ownFiles = 48

/** How many HTTP connections a process accepts: the configured number, limited by its open files. */
export function connectionsWithin(configured: number, openFilesMax: number): number {
  const allowed = Math.min(Math.floor(openFilesMax * shareOfConnections), openFilesMax - ownFiles)
  return Math.max(1, Math.min(configured, allowed))
}
