import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

/** Asserts that a document names a size in megabytes (10⁶ bytes) that is at most a tenth off. */
export async function assertDocumented(document: string, pattern: RegExp, bytes: number): Promise<void> {
  const documented = Number(pattern.exec(await readFile(join(root, document), 'utf8'))?.[1])
  const megabytes = bytes / 1e6
  const isNear = Math.abs(documented - megabytes) <= megabytes / 10
  assert(isNear, `${document} names ${documented} MB, and it is ${megabytes.toFixed(1)} MB`)
}
