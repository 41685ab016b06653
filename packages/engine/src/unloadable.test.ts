import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { isUnloadable, isUnloadableConnector, noteAddedConnectors } from './unloadable.ts'

/** Errors of loading code, as Node throws them, and errors of code that was loaded. */

const folder = await mkdtemp(join(tmpdir(), 'penstock-unloadable-'))
after(() => rm(folder, { recursive: true }))

let files = 0
/** The error that an import of a module of this text throws. */
async function thrownBy(text: string | undefined, name = `${++files}.mjs`): Promise<unknown> {
  const file = join(folder, name)
  if (text !== undefined) await writeFile(file, text)
  return import(pathToFileURL(file).href).then(
    () => assert.fail('it was loaded'),
    (error: unknown) => error,
  )
}

test('a file that is missing, half written or of another version cannot be loaded', async () => {
  await writeFile(join(folder, 'other.mjs'), 'export const here = 1\n')
  const errors = [
    await thrownBy(undefined),
    await thrownBy('import "./gone.mjs"'),
    await thrownBy('import "a-package-that-is-not-installed"'),
    await thrownBy('export function half() {'),
    await thrownBy('import { gone } from "./other.mjs"'),
    await thrownBy('undefined.property'),
    await thrownBy('export const a: number = \n', 'half.ts'),
    await thrownBy('module.exports = require("./gone.cjs")', 'first.cjs'),
  ]
  try {
    createRequire(import.meta.url)(join(folder, 'gone.node'))
  } catch (error) {
    errors.push(error)
  }
  await mkdir(join(folder, 'directory.mjs'))
  errors.push(await thrownBy(undefined, 'directory.mjs'))
  assert.deepEqual(
    errors.filter((error) => !isUnloadable(error)),
    [],
  )
})

test('an error of code that runs is not an error of loading', async () => {
  const file = join(folder, 'runs.mjs')
  await writeFile(
    file,
    `import { readFile } from 'node:fs/promises'
    export const failing = [
      () => JSON.parse('{'), () => undefined.x, () => readFile('/nonexistent'), () => { throw new TypeError('no') },
      () => new Function('}'), () => { throw 'text' },
    ]`,
  )
  const { failing } = await import(pathToFileURL(file).href)
  for (const fail of failing) {
    await assert.rejects(
      async () => fail(),
      (error) => !isUnloadable(error),
      String(fail),
    )
  }
})

test('code of a connector that the operator added is not code of Penstock', async () => {
  noteAddedConnectors(folder)
  const error = await thrownBy('import "./gone.mjs"')
  assert.equal(isUnloadable(error), false)
  assert.equal(isUnloadableConnector(error), true)
})
