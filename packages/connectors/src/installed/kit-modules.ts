/** The modules of the kit, resolved before any hook answers for them. */
const modules = new Map(
  ['', '/acceptance', '/egress', '/egress/allowed', '/egress/certificates', '/files', '/files/definition'].map(
    (path) => {
      const name = `@penstock/connector${path}`
      return [name, import.meta.resolve(name)]
    },
  ),
)

/**
 * The address of a module of the kit in this program. Undefined if the kit has no such module. The build of the published
 * package replaces this module.
 */
export const kitModule = (specifier: string): string | undefined => modules.get(specifier)
