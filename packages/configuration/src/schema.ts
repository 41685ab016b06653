import { AddAccount } from '@penstock/wire'
import { inAccounts, type kinds, owned } from './kinds.ts'
import { id, list, name, object, of, was } from './schema-parts.ts'

/**
 * The JSON Schema of the files. Names, settings and schedules come from the contract. The values of a connector are defined by
 * its definition, which `plan` reads from the service.
 */

/** The name under which a service serves the schema, below `/docs`. */
export const schemaFile = 'configuration.schema.json'

const listsOf = (some: typeof kinds, ofOrganization: boolean) =>
  Object.fromEntries(
    some.map((kind) => {
      const description = ofOrganization ? `${kind.plural} of the organization. Omitted: no change` : kind.plural
      return [kind.list, list(kind.schema(ofOrganization), description)]
    }),
  )

export const configurationSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Penstock configuration',
  ...object(
    ['version'],
    {
      version: { const: 1, description: 'Version of the format' },
      ...listsOf(owned, true),
      accounts: list(
        object(
          ['name'],
          {
            name,
            was,
            id,
            enabled: { ...of(AddAccount, 'enabled'), description: 'Whether it is enabled. Omitted: no change' },
            ...listsOf([...inAccounts, ...owned], false),
          },
          'A sub-account. It can be in several files, each with some of its connectors and connections',
        ),
        'Sub-accounts',
      ),
    },
    'Configuration of a Penstock service',
  ),
}
