import { registerHooks } from 'node:module'
import { kitModule } from './kit-modules.ts'

/**
 * From now on, modules of added connectors get the kit of this program under the name `@penstock/connector`, so that they
 * need no copy of it, and what one throws is what the other knows. Modules within the program are not affected.
 */
export function useKit(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const address = specifier.startsWith('@penstock/connector') ? kitModule(specifier) : undefined
      return address === undefined ? next(specifier, context) : { url: address, shortCircuit: true }
    },
  })
}
