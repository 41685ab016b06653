import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { testKitProgram } from '../../places.ts'
import { PackageRefused, probe } from './probe.ts'

/**
 * Tests a package before it is added: loads its definition as `addPackage` does, then runs its own tests (`*.test.js`,
 * `*.test.ts`) with the kit of this program. The tests run with the rights of the caller, who wrote the code.
 * @param path the directory of the package
 * @returns whether everything passed; the tests print their results
 * @throws PackageRefused if the definition cannot be used, or there are no tests
 */
export async function testPackage(path: string, say: (line: string) => void): Promise<boolean> {
  const root = resolve(path)
  const { slug, name } = await probe({ code: root, root, user: undefined })
  say(`ok    definition  ${name} (${slug})`)
  const exclude = (file: string) => /(?:^|[/\\])node_modules(?:[/\\]|$)/.test(file)
  const files = globSync('**/*.test.{js,mjs,ts,mts}', { cwd: root, exclude })
  if (files.length === 0) {
    throw new PackageRefused(
      `${root} has no tests: call acceptSource or acceptDestination of @penstock/connector/acceptance in a file such as connector.test.js. penstock connector new writes one.`,
    )
  }
  const flags = ['--import', pathToFileURL(testKitProgram).href, '--test', '--test-reporter=spec']
  const child = spawn(process.execPath, [...flags, ...files], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  const passed = await new Promise<boolean>((done) => {
    child.on('error', () => done(false))
    child.on('exit', (code) => done(code === 0))
  })
  say(passed ? `ok    tests       all of ${files.length} files passed` : `FAIL  tests       see above`)
  return passed
}
