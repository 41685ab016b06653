import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

/** The published package `@penstock/connect`. */

const root = join(import.meta.dirname, '..')

test('the package of connect links is built with its types, and a project that installs it compiles', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-connect-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const built = join(directory, 'built')
  const run = (program: string, ...args: string[]) =>
    execFileSync(process.execPath, [program, ...args], { cwd: directory, encoding: 'utf8', stdio: 'pipe' })
  run(join(root, 'packages/connect/build.ts'), built)
  assert.deepEqual((await readdir(built)).sort(), [
    'LICENSE',
    'README.md',
    'connect.global.d.ts',
    'connect.global.js',
    'connect.js',
    'index.d.ts',
    'package.json',
  ])
  const published = JSON.parse(await readFile(join(built, 'package.json'), 'utf8'))
  assert.equal(published.name, '@penstock/connect')
  for (const key of ['dependencies', 'scripts']) assert(!(key in published), key)

  await writeFile(join(directory, 'package.json'), '{"name": "an-empty-project", "private": true, "type": "module"}')
  execFileSync('npm', ['install', '--install-links', '--offline', '--no-audit', '--no-fund', built], {
    cwd: directory,
    stdio: 'pipe',
  })
  await writeFile(
    join(directory, 'page.ts'),
    `import { type ConnectResult, openConnect } from '@penstock/connect'
const { result } = openConnect('https://penstock.example.com/connect#token', { onEvent: ({ type }) => console.log(type) })
export const end: Promise<ConnectResult> = result
`,
  )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  run(
    tsc,
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--lib',
    'es2022,dom',
    '--types',
    '',
    'page.ts',
  )
})
