/**
 * `npm run test:random [-- file, pattern or part of a path ...]` runs the tests that make random choices with a new seed, or
 * with the seed in PENSTOCK_TEST_SEED, and prints it. Every other run uses the seed in `harness/seed.ts`.
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { importsOf, testFiles } from './harness/imports.ts'

const seed = process.env.PENSTOCK_TEST_SEED || String(randomInt(1, 100_000_000))
const given = process.argv.slice(2)
const files = given.some((one) => !one.startsWith('--'))
  ? []
  : testFiles().filter((file) => importsOf(file).has('test/harness/seed.ts'))
console.log(`PENSTOCK_TEST_SEED=${seed}`)
// A signal reaches the tests as well, which are of our process group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
const tests = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), ...given, ...files], {
  env: { ...process.env, PENSTOCK_TEST_SEED: seed },
  stdio: 'inherit',
})
const [code] = await once(tests, 'exit')
process.exitCode = typeof code === 'number' ? code : 1
const selected = given.length > 0 ? ` -- ${given.join(' ')}` : ''
console.log(`To repeat this run: PENSTOCK_TEST_SEED=${seed} npm run test:random${selected}`)
