/** `npm run check:types` checks each TypeScript project. It skips files that did not change since the last run. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

const projects = { root: '.', console: 'packages/console', connect: 'packages/connect' }
for (const [name, project] of Object.entries(projects)) {
  const seen = join(root, 'node_modules', '.cache', 'tsc', `${name}.json`)
  const flags = ['--noEmit', '--incremental', '--tsBuildInfoFile', seen]
  const { status } = spawnSync(process.execPath, [tsc, '-p', project, ...flags], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
