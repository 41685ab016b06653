import { fileURLToPath } from 'node:url'

/** The program that guards programs of others. The build of the published package replaces this module. */
export const guardFile = (): string => fileURLToPath(import.meta.resolve('./guard.ts'))
