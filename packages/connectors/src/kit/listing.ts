import type { Discover } from '@penstock/connector'
import type { Lister } from './listing-facts.ts'

/** The discoveries of settings that follow from `listed`, by their keys. @param forms of values of the settings */
export const discoveriesOf = (facts: Lister, forms: Readonly<Record<string, object>>): Record<string, Discover> =>
  Object.fromEntries(
    Object.entries(facts.listed ?? {}).map(([setting, listing]) => {
      const field = forms[setting]
      const id = listing.id ?? (field && 'pattern' in field ? (field.pattern as RegExp) : /./s)
      const discover: Discover = async (context) =>
        (await import('./run/discover.ts')).discoverListed(facts, { ...listing, id }, context)
      return [setting, discover]
    }),
  )
