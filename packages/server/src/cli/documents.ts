import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generatedDocuments } from '../generated-documents.ts'
import { readIfThere } from './runtime.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** Writes the documents that are generated from the code; with `--check` fails if one is not what it would write. */
export async function documents({ check }: { check?: boolean }): Promise<void> {
  for (const { path, content } of generatedDocuments()) {
    const file = join(root, path)
    if (!check) {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content)
    } else if ((await readIfThere(file)) !== content) {
      throw new Error(`${path} is not what the code says: run npm run documents and commit it.`)
    }
  }
}
