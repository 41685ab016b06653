/**
 * `npm run test:unit [-- package or part of a path ...] [--flags of node --test]` runs the unit tests: tests in `packages/`
 * that use no server. `unitTests` in `harness/imports.ts` defines which tests these are.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { isFolder, unitTests } from './harness/imports.ts'

const given = process.argv.slice(2)
const flags = given.filter((one) => one.startsWith('--'))
const parts = given.filter((one) => !one.startsWith('--'))
const isOf = (file: string, part: string) =>
  isFolder(`packages/${part}`) ? file.startsWith(`packages/${part}/`) : file.includes(part)
const files = unitTests().filter((file) => parts.length === 0 || parts.some((part) => isOf(file, part)))
if (files.length === 0) {
  console.error(`No unit test matches ${parts.join(' ')}. Name a package or a part of a path.`)
  process.exit(1)
}
const tests = spawn(process.execPath, ['--test', '--test-reporter=spec', ...flags, ...files], {
  cwd: dirname(import.meta.dirname),
  stdio: 'inherit',
})
const [code] = await once(tests, 'exit')
process.exitCode = typeof code === 'number' ? code : 1
