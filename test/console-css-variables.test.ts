import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const folder = join(import.meta.dirname, '..', 'packages/console/src')
/** Defined by Mantine, for all components or for one. */
const ofMantine = /^--(mantine-|chip-|modal-)/

/** A browser ignores a declaration with an unknown variable, so a misspelt name is no error anywhere else. */
test('every CSS variable that the console uses is defined', () => {
  const sources = globSync('**/*.{css,ts,tsx}', { cwd: folder }).map((name) => readFileSync(join(folder, name), 'utf8'))
  const namesIn = (pattern: RegExp) =>
    new Set(sources.flatMap((source) => [...source.matchAll(pattern)].map(([, name = '']) => name)))
  const defined = namesIn(/(--[a-z][\w-]*)['"]?\s*:/g)
  const used = [...namesIn(/var\((--[a-z][\w-]*)/g)].filter((name) => !ofMantine.test(name))
  assert.ok(used.length > 5, 'no variables were found')
  assert.deepEqual(
    used.filter((name) => !defined.has(name)),
    [],
  )
})
