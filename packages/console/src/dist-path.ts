import { join } from 'node:path'

export { pageRoots } from './pages.ts'

/** Where `npm ci` puts the built console. */
export const consoleDistPath = join(import.meta.dirname, '../dist')
