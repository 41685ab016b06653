import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'

/** The labels in a part of the texts of the console: a text with a help text next to it, or one that is named so. */
const labelsIn = (texts: unknown, path: string): [string, string][] =>
  typeof texts !== 'object' || texts === null
    ? []
    : Object.entries(texts).flatMap(([key, value]): [string, string][] => {
        const isLabel = /^(?:label|field|column|button)$|Label$/.test(key) || `${key}Help` in texts
        return typeof value === 'string' && isLabel ? [[`${path}.${key}`, value]] : labelsIn(value, `${path}.${key}`)
      })

test('labels of the console have at most four words', async () => {
  const files = globSync('*.ts', { cwd: import.meta.dirname }).filter((file) => !file.includes('.test.'))
  const modules = await Promise.all(files.map(async (file) => [file, await import(`./${file}`)] as const))
  const labels = modules.flatMap(([file, texts]) => labelsIn({ ...texts }, file))
  assert(labels.length > 30, `only ${labels.length} labels were found`)
  const long = labels.filter(([, label]) => label.split(' ').length > 4)
  // Headings of notices are among them. This number may only fall.
  assert(long.length <= 16, `${long.length} of ${labels.length}: ${long.join('\n')}`)
})
