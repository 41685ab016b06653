import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

/** Builds the console if its sources are newer than the last build, so that tests use the present code. */
export async function buildConsole(): Promise<void> {
  const home = join(root, 'packages/console')
  const timeOf = (file: string) => statSync(join(home, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const newest = Math.max(
    ...globSync(['src/**/*', '*.ts', '*.html', '../connect/src/*', '../connect/*.ts'], { cwd: home }).map(timeOf),
  )
  if (timeOf('dist/index.html') > newest && timeOf('dist/connect/connect.js') > newest) return
  const build = spawn('npm', ['run', 'build'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(build, 'exit')
  assert.equal(code, 0, 'the console cannot be built')
}
