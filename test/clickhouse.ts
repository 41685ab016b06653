/**
 * `npm run test:clickhouse -- [file, pattern or part of a path ...]` runs the tests of ClickHouse on its real engine, chdb, which
 * comes from the npm registry (550 MB, for Linux with glibc and macOS) and is kept in `.cache/packages`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { downloadPackage } from './harness/downloads.ts'

const chdb = await downloadPackage('chdb', '3.4.0')
const given = process.argv.slice(2)
const isSelection = (one: string) => !one.startsWith('--')
const tests = spawn(
  process.execPath,
  [
    join(import.meta.dirname, 'run.ts'),
    '--rest',
    ...given,
    ...(given.some(isSelection)
      ? []
      : ['connectors/src/clickhouse/', 'databases/cursors.large', 'databases/value-pairs-warehouses']),
  ],
  { env: { ...process.env, PENSTOCK_TEST_CLICKHOUSE: chdb }, stdio: 'inherit' },
)
// A signal reaches the tests as well, which are of our process group: they end first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
const [code] = await once(tests, 'exit')
process.exitCode = typeof code === 'number' ? code : 1
