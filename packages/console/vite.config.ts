import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { type Operation, operations } from '@penstock/wire'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { callsOf } from '../client/contract.ts'

export const target = {
  target: 'es2023',
  // They know light-dark(); without them it is rewritten into something that does not know the theme.
  cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  reportCompressedSize: false,
  chunkSizeWarningLimit: 1_000,
}

/** Modules that only forms need. */
const ofForms =
  /react-number-format|\/components\/(?:NumberInput|MultiSelect|Pill|PillsInput|Textarea|PasswordInput)\/|use-pills-reorder/
/** The texts of all errors, which few screens show. */
const ofErrors = /\/wire\/src\/errors\.ts$/

export default defineConfig({
  // Files find each other wherever they are served; the service gives the page its base path (`src/base-path.ts`).
  base: './',
  plugins: [react(), withoutSchemas(), compress()],
  build: {
    ...target,
    // Code that several screens share is one file: a browser starts slower with twenty small ones. Lists have no forms.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            {
              debugName: 'shared',
              name: (id) =>
                ofForms.test(id) || ofErrors.test(id) || !/\.(?:ts|tsx|js|mjs)$/.test(id) ? null : 'shared',
              minShareCount: 6,
              priority: 2,
            },
            { name: 'forms', test: ofForms, priority: 1 },
            // Each is smaller than the headers of its answer.
            {
              name: 'small',
              test: /@tabler\/icons-react|\/components\/(?:Container|Kbd|Collapse)\//,
              minShareCount: 2,
            },
          ],
        },
      },
    },
  },
  // `npm run dev` shows changes at once, beside a service on its usual port.
  server: { proxy: { '^/(es|docs|logos)/': 'http://127.0.0.1:8080' } },
})

/**
 * A browser needs to know how an operation is called; what its bodies may hold is the service's to check. Without the
 * schemas, and the library that makes them, a tenth less is loaded and started.
 *
 * @param called the operations that the page calls
 */
export function withoutSchemas(called: Readonly<Record<string, Operation>> = operations): Plugin {
  const calls = callsOf(called)
  return {
    name: 'without-schemas',
    apply: 'build',
    load: (id) =>
      id.endsWith('/wire/src/operations.ts') ? `export const operations = ${JSON.stringify(calls)}` : undefined,
  }
}

/** Writes each file in the encodings that browsers take, so that the service compresses nothing while it serves. */
export function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const files = await readdir(dir, { recursive: true })
      await Promise.all(
        files
          .filter((file) => /\.(js|css|html|svg)$/.test(file))
          .map(async (file) => {
            const bytes = await readFile(join(dir, file))
            await writeFile(join(dir, `${file}.br`), await promisify(brotliCompress)(bytes))
            await writeFile(join(dir, `${file}.gz`), await promisify(gzip)(bytes, { level: 9 }))
          }),
      )
    },
  }
}
