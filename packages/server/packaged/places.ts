/** In place of `packages/server/src/places.ts`: the files of the published package. The code is in its folders `server` and `runner`. */
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)

export const migrationsFolder = fileURLToPath(new URL('migrations/', root))
export const guidesFolder = new URL('docs/', root)
export const pageFilesFolder = new URL('documents/', root)
export const runnerProgram = fileURLToPath(new URL('runner/runner.js', root))
export const compileProgram = fileURLToPath(new URL('runner/compile.js', root))
export const probeProgram = fileURLToPath(new URL('runner/probe.js', root))
export const testKitProgram = fileURLToPath(new URL('runner/test-kit.js', root))
export const runnerFolders = (): string[] => [fileURLToPath(new URL('runner', root))]
